import assert from 'node:assert/strict';
import { FrameWriter } from '../../cli/bench/frame-writer.js';
import { Histogram } from '../../cli/bench/histogram.js';
import { Lateness } from '../../cli/bench/lateness.js';
import { Finish, LoadCounters } from '../../cli/bench/load.js';
import { storeTimeIn } from '../../cli/bench/pull-frames.js';
import { sendFrame, type DelayShape, type MessageShape } from '../../cli/bench/send-frames.js';
import { decodeCommand } from '../../protocol/command.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { encodeRecord } from '../../protocol/message/record.js';
import { FakeClock } from '../support/fake-clock.js';

describe('lateness of delayed messages', () => {
  it('counts what was due in the measured time, and what was early or came again', () => {
    const lateness = new Lateness();
    const latency = new Histogram();
    const messages: readonly (readonly [dueMs: number, storedMs: number])[] = [
      [999, 5000],
      [1000, 1000],
      [1001, 1007],
      [1500, 1499],
      [1600, 0],
      [2000, 2001],
    ];
    for (const [number, [dueMs, storedMs]] of messages.entries()) {
      if (storedMs > 0) lateness.stored(number, storedMs);
      lateness.due(number, dueMs);
    }
    lateness.stored(2, 9999);
    assert.equal(lateness.record(latency, 1000, 2000), 1);
    assert.equal(latency.count, 3);
    assert.equal(latency.max, 6000);
    assert.equal(latency.percentile(50), 1000, 'less than a millisecond counts as one');
    assert.deepEqual([lateness.delivered, lateness.repeated], [5, 1]);
  });

  it('has room for any number of messages', () => {
    const lateness = new Lateness();
    const latency = new Histogram();
    lateness.due(1_000_000, 10);
    lateness.stored(1_000_000, 13);
    lateness.record(latency, 0, 20);
    assert.deepEqual([latency.count, latency.max], [1, 3000]);
  });

  for (const sysFlag of [0, 16, 32, 48])
    it(`goes by the store time of the record, addresses ${sysFlag}`, () => {
      const address = (flag: number): Buffer => Buffer.alloc((sysFlag & flag) === 0 ? 4 : 16, 0xff);
      const record = encodeRecord({
        topic: 'T',
        queueId: 0,
        flag: 0,
        sysFlag,
        bornTimestamp: 1,
        bornAddress: address(16),
        bornPort: 1,
        storeAddress: address(32),
        storePort: 1,
        reconsumeTimes: 0,
        preparedTransactionOffset: 0,
        body: Buffer.from('x'),
        properties: '',
        storeTimestamp: 1_900_000_000_123,
      });
      assert.equal(storeTimeIn(Buffer.concat([Buffer.alloc(3), record]), 3), 1_900_000_000_123);
    });
});

describe('delays of bench messages', () => {
  const born = 1_700_000_000_000;
  const queue = { topic: 'T', queueId: 0 };
  const shapeOf = (delay: DelayShape): MessageShape => ({
    form: 'binary',
    bodyBytes: 16,
    perRequest: 1,
    keys: false,
    tags: [],
    properties: 0,
    oneWay: false,
    delay,
  });
  const propertiesOf = (frame: Buffer): Map<string, string> =>
    parseProperties(decodeSendMessageV2(decodeCommand(frame, 4, frame.length).ext).properties!);

  it('are a level', () => {
    const frame = sendFrame(shapeOf({ level: 3, aheadMs: 10_000 }), queue, born);
    assert.equal(frame.dueAt, -1);
    assert.equal(propertiesOf(frame.bytes).get('DELAY'), '3');
  });

  it('are a time for each message, which its body may repeat', () => {
    const clock = new FakeClock();
    const seen: number[] = [];
    const shape = shapeOf({ aheadMs: 10_000 });
    const writer = new FrameWriter(
      {
        shape,
        clock,
        counters: new LoadCounters(),
        finish: new Finish(),
        stamp: (_block, _bodyAt, _intendedMs, dueMs) => void seen.push(dueMs),
      },
      [sendFrame(shape, queue, born)],
      0,
    );
    for (const elapsed of [0, 1, 86_400_000]) {
      clock.advance(elapsed);
      const block = writer.block(1);
      writer.put(block, 0, 0, 0);
      const due = Number(propertiesOf(block).get('TIMER_DELIVER_MS'));
      assert.equal(due, Math.floor(clock.wallMs() + 10_000));
      assert.equal(seen.at(-1), due);
    }
  });
});
