import assert from 'node:assert/strict';
import { EndFrame } from '../../cli/bench/end-frame.js';
import { positionInAnswer, readAnswer, slotOf, type Answer } from '../../cli/bench/frames.js';
import { measure } from '../../cli/bench/measure.js';
import type { MessageShape } from '../../cli/bench/send-frames.js';
import { TransactionLoad } from '../../cli/bench/transaction-load.js';
import { systemClock } from '../../kernel/base/clock.js';
import { RequestCode, ResponseCode, SysFlag } from '../../protocol/codes.js';
import { decodeCommand, encodeResponse, Serialize } from '../../protocol/command.js';
import { decodeEndTransaction } from '../../protocol/headers/end-transaction.js';
import { encodeSendMessageV2Response, decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { createOffsetMessageId } from '../../protocol/message/message-id.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { FakeBroker } from './support/fake-broker.js';

const { SEND_MESSAGE_V2: SEND, END_TRANSACTION: END } = RequestCode;
const shape: MessageShape = {
  form: 'binary',
  bodyBytes: 20,
  perRequest: 1,
  keys: false,
  tags: [],
  properties: 0,
  oneWay: false,
};

for (const form of ['binary', 'json'] as const)
  describe(`bench transactions, ${form} headers`, () => {
    it('are committed by requests that a broker reads, one behind the other', () => {
      const frame = new EndFrame(form);
      const places = [
        [0, 0],
        [9, 123_456],
        [10_000_000, Number.MAX_SAFE_INTEGER],
      ] as const;
      const block = Buffer.alloc(places.length * frame.bytesMax);
      let at = 0;
      for (const [slot, [queueOffset, position]] of places.entries()) {
        const end = frame.write(block, at, { queueOffset, position }, 0xabc + slot, slot);
        assert.equal(block.readInt32BE(at), end - at - 4);
        const request = decodeCommand(block, at + 4, end);
        const header = decodeEndTransaction(request.ext);
        assert.deepEqual([request.code, slotOf(request.opaque), request.oneway], [END, slot, false]);
        assert.deepEqual([header.tranStateTableOffset, header.commitLogOffset], [queueOffset, position]);
        assert.equal(header.commitOrRollback, SysFlag.TRANSACTION_COMMIT);
        assert.equal(parseInt(header.msgId.slice(24), 16), 0xabc + slot);
        assert.equal(header.transactionId, header.msgId);
        at = end;
      }
    });

    it('find where a half message stands in the answer to its send', () => {
      const serialize = form === 'json' ? Serialize.JSON : Serialize.ROCKETMQ;
      for (const [address, position] of [
        [Buffer.from([10, 0, 0, 1]), 987_654_321_012],
        [Buffer.alloc(16, 0xaf), 0],
      ] as const) {
        const ext = encodeSendMessageV2Response({
          msgId: createOffsetMessageId(address, 10911, position),
          queueId: 0,
          queueOffset: 5,
        });
        const bytes = encodeResponse({ opaque: 1, serialize }, { code: 0, ext });
        const answer: Answer = { code: 0, slot: 0, bodyStart: 0 };
        readAnswer(bytes, 0, bytes.length, answer);
        assert.equal(positionInAnswer(bytes, 0, answer.bodyStart), position);
      }
    });

    it('commit each half once, where it stands, with no more open than asked for', async () => {
      const broker = await FakeBroker.start();
      try {
        const open = new Map<number, string>();
        let most = 0;
        let halves = 0;
        broker.on(SEND, (request) => {
          const { sysFlag, properties } = decodeSendMessageV2(request.ext);
          const table = parseProperties(properties!);
          assert.deepEqual([sysFlag, table.get('TRAN_MSG')], [SysFlag.TRANSACTION_PREPARED, 'true']);
          assert.ok(table.get('PGROUP'));
          const queueOffset = halves++;
          open.set(queueOffset, table.get('UNIQ_KEY')!);
          most = Math.max(most, open.size);
          const msgId = createOffsetMessageId(Buffer.from([127, 0, 0, 1]), 1, queueOffset * 1000);
          return { code: ResponseCode.SUCCESS, ext: encodeSendMessageV2Response({ msgId, queueId: 0, queueOffset }) };
        });
        let wrong = 0;
        broker.on(END, (request) => {
          const { tranStateTableOffset, commitLogOffset, msgId } = decodeEndTransaction(request.ext);
          if (open.get(tranStateTableOffset) !== msgId || commitLogOffset !== tranStateTableOffset * 1000) wrong++;
          open.delete(tranStateTableOffset);
          return { code: ResponseCode.SUCCESS };
        });
        const { host, port } = { host: '127.0.0.1', port: broker.server.port };
        const targets = [{ host, port, queues: [{ topic: 'T', queueId: 0 }] }];
        const settings = { targets, shape: { ...shape, form }, connections: 2, window: 4 };
        const load = await TransactionLoad.open(settings, systemClock);
        const result = await measure(load, { warmSeconds: 0, seconds: 0.2, pid: undefined }, () => undefined);
        assert.ok(result.messages > 20, `${result.messages} transactions`);
        assert.deepEqual([wrong, open.size, result.errors], [0, 0, {}]);
        assert.equal(broker.asked(END).length, halves, 'nothing is left for the broker to ask');
        assert.ok(halves - result.messages <= 8, `${halves} halves, ${result.messages} counted`);
        assert.ok(most <= 8, `${most} open`);
      } finally {
        await broker.close();
      }
    });
  });

describe('bench transactions', () => {
  it('count what the broker refuses by its code, halves and commits', async () => {
    const broker = await FakeBroker.start();
    try {
      broker.on(END, { code: ResponseCode.SYSTEM_ERROR });
      let halves = 0;
      broker.on(SEND, () => {
        const msgId = createOffsetMessageId(Buffer.from([127, 0, 0, 1]), 1, 7);
        const ext = encodeSendMessageV2Response({ msgId, queueId: 0, queueOffset: 1 });
        return halves++ % 2 === 0 ? { code: ResponseCode.SUCCESS, ext } : { code: ResponseCode.NO_PERMISSION };
      });
      const targets = [{ host: '127.0.0.1', port: broker.server.port, queues: [{ topic: 'T', queueId: 0 }] }];
      const load = await TransactionLoad.open({ targets, shape, connections: 1, window: 2 }, systemClock);
      const result = await measure(load, { warmSeconds: 0, seconds: 0.1, pid: undefined }, () => undefined);
      assert.equal(result.messages, 0);
      assert.deepEqual(Object.keys(result.errors), [
        String(ResponseCode.SYSTEM_ERROR),
        String(ResponseCode.NO_PERMISSION),
      ]);
    } finally {
      await broker.close();
    }
  });
});
