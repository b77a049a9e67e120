import assert from 'node:assert/strict';
import { readAnswer, remarkIn, slotOf, writeOpaque, type Answer, type HeaderForm } from '../../cli/bench/frames.js';
import { bodyLengthAt, nextOffsetIn, PullFrame, readRecords } from '../../cli/bench/pull-frames.js';
import { sendFrame, sendFrames, writeKey, type MessageShape } from '../../cli/bench/send-frames.js';
import { CommandFlag } from '../../protocol/codes.js';
import { decodeCommand, encodeResponse, Serialize, type Request } from '../../protocol/command.js';
import { decodePullMessage, encodePullMessageResponse } from '../../protocol/headers/pull-message.js';
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
    const shape: MessageShape = {
      form,
      bodyBytes: 100,
      perRequest: 1,
      keys: false,
      tags: [],
      properties: 0,
      oneWay: false,
    };
    const queue = { topic: 'T', queueId: 3 };
    const born = 1_700_000_000_000;

    it('are sends that a broker reads, after their patches too', () => {
      const frame = sendFrame(shape, queue, born);
      for (const slot of [0, 7, 65_535, 2 ** 30 - 1]) {
        writeOpaque(frame.bytes, 0, frame, slot);
        writeKey(frame.bytes, frame.keysAt[0]!, 0xabc00 + slot);
        const request = decoded(frame.bytes);
        const header = decodeSendMessageV2(request.ext);
        assert.equal(slotOf(request.opaque), slot);
        assert.deepEqual([request.code, header.topic, header.queueId, header.batch], [310, 'T', 3, false]);
        assert.equal(request.flag & CommandFlag.ONEWAY, 0);
        assert.equal(request.body.length, 100);
        assert.ok(frame.bytes.subarray(frame.bodyAt).equals(request.body));
        const key = parseProperties(header.properties!).get('UNIQ_KEY')!;
        assert.equal(key.length, 32);
        assert.equal(parseInt(key.slice(24), 16), 0xabc00 + slot);
      }
    });

    it('carry keys when asked', () => {
      const frame = sendFrame({ ...shape, keys: true }, queue, born);
      frame.keysAt.forEach((at, index) => writeKey(frame.bytes, at, 5 + index));
      const properties = parseProperties(decodeSendMessageV2(decoded(frame.bytes).ext).properties!);
      assert.deepEqual(
        ['UNIQ_KEY', 'KEYS'].map((name) => parseInt(properties.get(name)!.slice(24), 16)),
        [5, 6],
      );
    });

    it('are batches, each message with a key of its own', () => {
      const frame = sendFrame({ ...shape, perRequest: 32, tags: ['A', 'B'], properties: 2 }, queue, born);
      frame.keysAt.forEach((at, index) => writeKey(frame.bytes, at, index));
      const request = decoded(frame.bytes);
      assert.deepEqual([request.code, decodeSendMessageV2(request.ext).batch], [320, true]);
      const inner = decodeBatch(request.body);
      assert.equal(inner.length, 32);
      assert.equal(new Set(inner.map(({ properties }) => parseProperties(properties).get('UNIQ_KEY'))).size, 32);
      assert.ok(inner.every(({ body }) => body.length === 100));
      assert.deepEqual(
        inner
          .slice(0, 3)
          .map(({ properties }) => ['TAGS', 'p001'].map((name) => parseProperties(properties).get(name))),
        [
          ['A', 'value-0123'],
          ['B', 'value-0123'],
          ['A', 'value-0123'],
        ],
      );
    });

    it('ask for no answer when one-way', () => {
      const request = decoded(sendFrame({ ...shape, oneWay: true }, queue, born).bytes);
      assert.deepEqual([request.code, request.flag & CommandFlag.ONEWAY], [310, CommandFlag.ONEWAY]);
    });

    it('carry tags and properties, each tag in each queue', () => {
      const queues = [0, 1].map((queueId) => ({ topic: 'T', queueId }));
      const frames = sendFrames({ ...shape, tags: ['A', 'B', 'C'], properties: 12 }, queues, born);
      const seen = frames.map(({ bytes }) => {
        const { queueId, properties } = decodeSendMessageV2(decoded(bytes).ext);
        const table = parseProperties(properties!);
        assert.equal([...table.keys()].filter((name) => /^p0\d\d$/.test(name)).length, 12);
        return `${queueId}${table.get('TAGS')}`;
      });
      assert.equal(seen.join(' '), '0A 1B 0B 1C 0C 1A');
    });

    it('are pulls at any offset, one behind the other', () => {
      const filter = { type: 'SQL92', expression: "TAGS = 'A'" };
      const pull = new PullFrame(
        { form, group: 'g', perPull: 32, filter, suspendMs: 15_000 },
        { topic: 'T', queueId: 5 },
      );
      const offsets = [0, 9, 10, 1_234_567, 9_007_199_254_740_991];
      const block = Buffer.alloc(offsets.length * pull.bytesMax);
      let at = 0;
      for (const [slot, offset] of offsets.entries()) {
        const end = pull.write(block, at, offset, slot);
        assert.ok(end - at <= pull.bytesMax);
        const request = decoded(block.subarray(at, end));
        const header = decodePullMessage(request.ext);
        assert.equal(slotOf(request.opaque), slot);
        assert.deepEqual(
          [header.queueOffset, header.queueId, header.maxMsgNums, header.suspendTimeoutMillis, header.sysFlag],
          [offset, 5, 32, 15_000, 6],
        );
        assert.deepEqual([header.expressionType, header.subscription], ['SQL92', "TAGS = 'A'"]);
        at = end;
      }
    });

    it('ask a broker to hold nothing when no time is given', () => {
      const shapeOfPull = { form, group: 'g', perPull: 32, filter: { type: 'TAG', expression: '*' }, suspendMs: 0 };
      const pull = new PullFrame(shapeOfPull, { topic: 'T', queueId: 5 });
      const block = Buffer.alloc(pull.bytesMax);
      assert.equal(decodePullMessage(decoded(block.subarray(0, pull.write(block, 0, 7, 0))).ext).sysFlag, 4);
    });

    it('say where a pull goes on, and why an answer is none', () => {
      const serialize = form === 'json' ? Serialize.JSON : Serialize.ROCKETMQ;
      const header = { suggestWhichBrokerId: 0, nextBeginOffset: 1_234_567_890_123, minOffset: 3, maxOffset: 4 };
      const answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
      const read = (bytes: Buffer): Buffer => {
        readAnswer(bytes, 0, bytes.length, answer);
        return bytes;
      };
      const found = read(
        encodeResponse({ opaque: 1, serialize }, { code: 21, ext: encodePullMessageResponse(header) }),
      );
      assert.equal(nextOffsetIn(found, 0, answer.bodyStart), 1_234_567_890_123);
      const bad = read(encodeResponse({ opaque: 1, serialize }, { code: 1, remark: 'no "SQL92" here' }));
      assert.equal(remarkIn(bad, 0, answer.bodyStart), 'no "SQL92" here');
      const silent = read(encodeResponse({ opaque: 1, serialize }, { code: 1 }));
      assert.equal(remarkIn(silent, 0, answer.bodyStart), 'without a reason');
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
  const record = (queueOffset: number, sysFlag = 0): Buffer =>
    encodeRecord({
      topic: 'T',
      queueId: 0,
      flag: 0,
      sysFlag,
      bornTimestamp: 1,
      bornAddress: Buffer.alloc((sysFlag & 16) === 0 ? 4 : 16),
      bornPort: 1,
      storeAddress: Buffer.alloc((sysFlag & 32) === 0 ? 4 : 16),
      storePort: 1,
      reconsumeTimes: 0,
      preparedTransactionOffset: 0,
      body: Buffer.from('x'.repeat(queueOffset % 50)),
      properties: 'a\u0001b',
      queueOffset,
    });

  it('are counted, and handed over where they lie', () => {
    const records = [record(5), record(6), record(9)];
    const body = Buffer.concat([Buffer.alloc(3), ...records]);
    const seen: number[] = [];
    assert.equal(
      readRecords(body, 3, body.length, (_buffer, at, size) => void seen.push(at, size)),
      3,
    );
    const [first, second, third] = records.map(({ length }) => length);
    assert.deepEqual(seen, [3, first, 3 + first!, second, 3 + first! + second!, third]);
    assert.throws(() => readRecords(body, 3, body.length - 1), /record of/);
  });

  it('have their body behind addresses of either kind', () => {
    for (const sysFlag of [0, 16, 32, 48]) {
      const bytes = record(23, sysFlag);
      const at = bodyLengthAt(bytes, 0);
      assert.equal(bytes.readInt32BE(at), 23);
      assert.equal(bytes.toString('latin1', at + 4, at + 27), 'x'.repeat(23));
    }
  });
});
