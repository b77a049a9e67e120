import assert from 'node:assert/strict';
import { readAnswer, slotOf, writeOpaque, type Answer, type HeaderForm } from '../../cli/bench/frames.js';
import { PullFrame, readRecords, sendFrame, writeKey } from '../../cli/bench/message-frames.js';
import { decodeCommand, encodeResponse, Serialize, type Request } from '../../protocol/command.js';
import { decodePullMessage } from '../../protocol/headers/pull-message.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { decodeBatch } from '../../protocol/message/batch.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { encodeRecord } from '../../protocol/message/record.js';

const decoded = (frame: Buffer): Request => {
  assert.equal(frame.readInt32BE(0), frame.length - 4);
  return decodeCommand(frame, 4, frame.length);
};

for (const form of ['binary', 'json'] as const satisfies readonly HeaderForm[])
  describe(`bench frames, ${form} headers`, () => {
    const shape = { form, topic: 'T', queueId: 3, bodyBytes: 100, bornTimestamp: 1_700_000_000_000, keys: false };

    it('are sends that a broker reads, after their patches too', () => {
      const frame = sendFrame({ ...shape, messages: 1 });
      for (const slot of [0, 7, 65_535, 2 ** 30 - 1]) {
        writeOpaque(frame.bytes, 0, frame, slot);
        writeKey(frame.bytes, frame.keysAt[0]!, 0xabc00 + slot);
        const request = decoded(frame.bytes);
        const header = decodeSendMessageV2(request.ext);
        assert.equal(slotOf(request.opaque), slot);
        assert.deepEqual([request.code, header.topic, header.queueId, header.batch], [310, 'T', 3, false]);
        assert.equal(request.body.length, 100);
        const key = parseProperties(header.properties!).get('UNIQ_KEY')!;
        assert.equal(key.length, 32);
        assert.equal(parseInt(key.slice(24), 16), 0xabc00 + slot);
      }
    });

    it('carry keys when asked', () => {
      const frame = sendFrame({ ...shape, messages: 1, keys: true });
      frame.keysAt.forEach((at, index) => writeKey(frame.bytes, at, 5 + index));
      const properties = parseProperties(decodeSendMessageV2(decoded(frame.bytes).ext).properties!);
      assert.deepEqual(
        ['UNIQ_KEY', 'KEYS'].map((name) => parseInt(properties.get(name)!.slice(24), 16)),
        [5, 6],
      );
    });

    it('are batches, each message with a key of its own', () => {
      const frame = sendFrame({ ...shape, messages: 32 });
      frame.keysAt.forEach((at, index) => writeKey(frame.bytes, at, index));
      const request = decoded(frame.bytes);
      assert.deepEqual([request.code, decodeSendMessageV2(request.ext).batch], [320, true]);
      const inner = decodeBatch(request.body);
      assert.equal(inner.length, 32);
      assert.equal(new Set(inner.map(({ properties }) => parseProperties(properties).get('UNIQ_KEY'))).size, 32);
      assert.ok(inner.every(({ body }) => body.length === 100));
    });

    it('are pulls at any offset', () => {
      const pull = new PullFrame(form, 'T', 5, 'g', 32);
      for (const offset of [0, 9, 10, 1_234_567, 9_007_199_254_740_991]) {
        const frame = pull.at(offset);
        writeOpaque(frame.bytes, 0, frame, 11);
        const request = decoded(frame.bytes);
        const header = decodePullMessage(request.ext);
        assert.equal(slotOf(request.opaque), 11);
        assert.deepEqual(
          [header.queueOffset, header.queueId, header.maxMsgNums, header.subscription, header.sysFlag],
          [offset, 5, 32, '*', 4],
        );
      }
    });

    it('read code, slot and body of answers', () => {
      const serialize = form === 'json' ? Serialize.JSON : Serialize.ROCKETMQ;
      const answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
      for (const [code, slot, remark] of [
        [0, 0, undefined],
        [14, 65_535, 'no "opaque":5 here, {"code":7}'],
        [19, 3, undefined],
      ] as const) {
        const frame = encodeResponse(
          { opaque: 1_000_000_000 + slot, serialize },
          { code, remark, ext: { queueId: '1', quux: 'opaque' }, body: Buffer.from('body') },
        );
        const padded = Buffer.concat([Buffer.from('xxx'), frame]);
        readAnswer(padded, 3, padded.length, answer);
        assert.deepEqual([answer.code, answer.slot], [code, slot]);
        assert.equal(padded.subarray(answer.bodyStart).toString(), 'body');
      }
    });
  });

describe('bench records', () => {
  const record = (queueOffset: number): Buffer =>
    encodeRecord({
      topic: 'T',
      queueId: 0,
      flag: 0,
      sysFlag: 0,
      bornTimestamp: 1,
      bornAddress: Buffer.alloc(4),
      bornPort: 1,
      storeAddress: Buffer.alloc(4),
      storePort: 1,
      reconsumeTimes: 0,
      preparedTransactionOffset: 0,
      body: Buffer.from('x'.repeat(queueOffset % 50)),
      properties: 'a\u0001b',
      queueOffset,
    });

  it('are counted, and the last one says where to go on', () => {
    const body = Buffer.concat([record(2 ** 32 + 5), record(2 ** 32 + 6), record(2 ** 32 + 9)]);
    const result = { count: 0, nextOffset: 0 };
    readRecords(body, 0, body.length, result);
    assert.deepEqual(result, { count: 3, nextOffset: 2 ** 32 + 10 });
    assert.throws(() => readRecords(body, 0, body.length - 1, result), /record of/);
  });
});
