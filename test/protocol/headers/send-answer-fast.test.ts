import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodeCommand, encodeResponse, Serialize } from '../../../protocol/command.js';
import { SendAnswer, writeDecimal } from '../../../protocol/headers/send-answer-fast.js';
import { decodeSendMessageResponse, encodeSendMessageResponse } from '../../../protocol/headers/send-message.js';
import { createOffsetMessageId, decodeOffsetMessageId } from '../../../protocol/message/message-id.js';
import { golden, type CapturedFrame } from '../../golden/load.js';

describe('protocol/headers/send-answer-fast', () => {
  const offset = fc.maxSafeInteger().map(Math.abs);

  it('writes what encodeResponse writes', () => {
    const addresses = fc.constantFrom(Buffer.from([127, 0, 0, 1]), Buffer.alloc(16, 0xfe));
    const region = fc.constantFrom('DefaultRegion', 'Zürich "1"');
    const values = fc.record({
      opaque: fc.integer({ min: -2147483648, max: 2147483647 }),
      serialize: fc.constantFrom(...Object.values(Serialize)),
      code: fc.constantFrom(0, 10, 11, 12),
      queueId: fc.nat(1000),
      queueOffset: offset,
      physicalOffset: offset,
      others: fc.array(offset, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(addresses, region, fc.boolean(), values, (address, MSG_REGION, trace, it) => {
        const answer = new SendAnswer(MSG_REGION, trace, address, 10911);
        const target = Buffer.alloc(answer.bytesFor(1 + it.others.length) + 7);
        const end = answer.write(target, 7, it, it.code, it.queueId, it.queueOffset, it.physicalOffset, it.others);
        const idOf = (at: number): string => createOffsetMessageId(address, 10911, at);
        const msgId = [it.physicalOffset, ...it.others].map(idOf).join(',');
        const { queueId, queueOffset } = it;
        const header = { MSG_REGION, TRACE_ON: String(trace), msgId, queueId, queueOffset };
        const ext = encodeSendMessageResponse(header, it.serialize);
        const wanted = encodeResponse(it, { code: it.code, ext });
        assert.equal(target.toString('hex', 7, end), wanted.toString('hex'));
      }),
    );
  });

  it('writes the bytes of the real broker', () => {
    const answers = golden<CapturedFrame[]>('frames.json').filter(
      ({ kind, code, answered }) => kind === 'answer' && [10, 310, 320].includes(code) && answered === 0,
    );
    assert.deepEqual(answers.map(({ serialize }) => serialize).sort(), [
      'JSON',
      'JSON',
      'JSON',
      'ROCKETMQ',
      'ROCKETMQ',
      'ROCKETMQ',
    ]);
    for (const { hex } of answers) {
      const frame = Buffer.from(hex, 'hex');
      const captured = decodeCommand(frame, 4, frame.length);
      const header = decodeSendMessageResponse(captured.ext);
      const ids = header.msgId.split(',').map(decodeOffsetMessageId);
      const { address, port, physicalOffset } = ids[0];
      const others = ids.slice(1).map((id) => id.physicalOffset);
      const answer = new SendAnswer('DefaultRegion', true, address, port);
      const target = Buffer.alloc(answer.bytesFor(ids.length));
      const end = answer.write(target, 0, captured, 0, header.queueId, header.queueOffset, physicalOffset, others);
      assert.equal(target.toString('hex', 0, end), hex);
    }
  });

  it('writes whole numbers as text', () => {
    const target = Buffer.alloc(30);
    const text = (value: number): string => target.toString('latin1', 0, writeDecimal(target, value, 0));
    for (const value of [0, 9, 10, 999999999, 1000000000, 2147483647, 2147483648, 2 ** 53 - 1, -1, -2147483648]) {
      assert.equal(text(value), String(value));
    }
    fc.assert(fc.property(fc.maxSafeInteger(), (value) => assert.equal(text(value), String(value))));
  });
});
