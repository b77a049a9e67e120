import assert from 'node:assert/strict';
import { systemClock } from '../../../kernel/base/clock.js';
import type { AppendGate, StoreState } from '../../../plugins/commitlog/contract.js';
import { DelayLevels } from '../../../plugins/schedule/delays.js';
import { TimerPlacement } from '../../../plugins/schedule/timers.js';
import { FinalMessages } from '../../../plugins/transaction/final-message.js';
import { HalfRecord } from '../../../plugins/transaction/half-record.js';
import type { Ending } from '../../../plugins/transaction/ending.js';
import { setInt64 } from '../../../protocol/int64.js';
import { viewOf } from '../../../protocol/copy.js';
import {
  BODY_CRC_AT,
  decodeRecord,
  encodeRecord,
  PHYSICAL_OFFSET_AT,
  QUEUE_OFFSET_AT,
  storeTimestampAt,
} from '../../../protocol/message/record.js';
import { defaultOptions } from '../../support/default-options.js';
import { propertyText } from '../../support/send-pull.js';

/** Halves and the final messages that 4.9.7 made of them; the second is compressed and has more than one tag by its flags. */
const pairs = [
  [
    '00000107daa320a76d26825600000000000000030000000000000000000000000000081c00000000000001a22cbdf1477f00000100008646000001a22cbdf148' +
      '7f000001000079a900000000000000000000000000000002684118524d515f5359535f5452414e535f48414c465f544f5049430092434845434b5f494d4d554e' +
      '4954595f54494d455f494e5f5345434f4e4453013630025245414c5f544f5049430158024b455953016841025452414e5f4d5347017472756502554e49515f4b' +
      '45590155684102434c55535445520144656661756c74436c7573746572025047524f555001544702574149540166616c73650254414753015461674202524541' +
      '4c5f5149440131',
    '000000f0daa320a76d268256000000010000000300000000000000000000000000000f2500000008000001a22cbdf1477f00000100008646000001a22cbdfd19' +
      '7f000001000079a900000000000000000000081c00000002684101580092434845434b5f494d4d554e4954595f54494d455f494e5f5345434f4e445301363002' +
      '5245414c5f544f5049430158024b455953016841025452414e5f4d5347017472756502554e49515f4b45590155684102434c55535445520144656661756c7443' +
      '6c7573746572025047524f555001544702574149540166616c736502544147530154616742025245414c5f5149440131',
  ],
  [
    '000000f2daa320a70445276300000000000000000000000000000009000000000000243300000003000001a22cbdfd617f00000100008646000001a22cbdfd61' +
      '7f000001000079a900000000000000000000000000000002684718524d515f5359535f5452414e535f48414c465f544f504943007d434845434b5f494d4d554e' +
      '4954595f54494d455f494e5f5345434f4e4453013630025245414c5f544f5049430158024b455953016847025452414e5f4d5347017472756502554e49515f4b' +
      '45590155684702434c55535445520144656661756c74436c7573746572025047524f5550015447025245414c5f5149440131',
    '000000dbdaa320a7044527630000000100000000000000000000000500000000000025250000000b000001a22cbdfd617f00000100008646000001a22cbdfd63' +
      '7f000001000079a90000000000000000000024330000000268470158007d434845434b5f494d4d554e4954595f54494d455f494e5f5345434f4e445301363002' +
      '5245414c5f544f5049430158024b455953016847025452414e5f4d5347017472756502554e49515f4b45590155684702434c55535445520144656661756c7443' +
      '6c7573746572025047524f5550015447025245414c5f5149440131',
  ],
].map((pair) => pair.map((hex) => Buffer.from(hex, 'hex'))) as [Buffer, Buffer][];

interface Commit {
  readonly size: number;
  readonly topic: string;
  readonly queueId: number;
}

/** A ring with room for one record. */
class OneRecord {
  readonly bytes = Buffer.alloc(65_536);
  readonly view = viewOf(this.bytes);
  readonly commits: Commit[] = [];

  reserve(size: number): number {
    return size <= this.bytes.length ? 0 : -1;
  }

  commit(size: number, topic: string, queueId: number): void {
    this.commits.push({ size, topic, queueId });
  }
}

function put(half: Buffer): { ring: OneRecord; handed: unknown } {
  const ring = new OneRecord();
  const record = new HalfRecord();
  assert.ok(record.load(half));
  const timers = new TimerPlacement({} as StoreState, defaultOptions(), systemClock);
  const finals = new FinalMessages(ring as unknown as AppendGate, new DelayLevels(defaultOptions(), timers));
  return { ring, handed: finals.put(record, undefined as unknown as Ending) };
}

function halfWith(properties: Record<string, string>, body = Buffer.from('body')): Buffer {
  return encodeRecord({
    ...{ topic: 'RMQ_SYS_TRANS_HALF_TOPIC', queueId: 0, flag: 7, sysFlag: 0, bornTimestamp: 1000 },
    ...{ bornAddress: Buffer.alloc(16, 9), bornPort: 1, storeAddress: Buffer.alloc(4, 8), storePort: 2 },
    ...{ reconsumeTimes: 3, preparedTransactionOffset: 0, body, queueOffset: 11, physicalOffset: 4321 },
    properties: propertyText({ TRAN_MSG: 'true', REAL_TOPIC: 'T', REAL_QID: '2', ...properties }),
  });
}

describe('final message of a transaction', () => {
  for (const [half, theirs] of pairs)
    it(`is byte for byte what 4.9.7 makes of half ${decodeRecord(half, 0).queueOffset}`, () => {
      const { ring, handed } = put(half);
      assert.equal(handed, 'handedOver');
      const { queueOffset, physicalOffset, storeTimestamp, topic, queueId } = decodeRecord(theirs, 0);
      assert.deepEqual(ring.commits, [{ size: theirs.length, topic, queueId }]);
      // What the log's writer stamps.
      setInt64(ring.view, QUEUE_OFFSET_AT, queueOffset);
      setInt64(ring.view, PHYSICAL_OFFSET_AT, physicalOffset);
      setInt64(ring.view, storeTimestampAt(0), storeTimestamp);
      assert.equal(ring.bytes.toString('hex', 0, theirs.length), theirs.toString('hex'));
    });

  it('keeps hosts of either kind, flag and number of consumptions', () => {
    const { ring } = put(halfWith({}));
    const { flag, reconsumeTimes, preparedTransactionOffset, bornHost, storeHost, body, queueId } = decodeRecord(
      ring.bytes,
      0,
    );
    assert.deepEqual(
      { flag, reconsumeTimes, preparedTransactionOffset, queueId, body: body.toString() },
      { flag: 7, reconsumeTimes: 3, preparedTransactionOffset: 4321, queueId: 2, body: 'body' },
    );
    assert.equal(storeHost, '8.8.8.8:2');
    assert.match(bornHost, /909:909:.*:1$/);
  });

  it('waits for its time now, when it is delayed; TRAN_MSG is gone then, as in 4.9', () => {
    const { ring } = put(halfWith({ DELAY: '3' }));
    assert.deepEqual(
      ring.commits.map(({ topic, queueId }) => ({ topic, queueId })),
      [{ topic: 'SCHEDULE_TOPIC_XXXX', queueId: 2 }],
    );
    const { properties, sysFlag, totalBytes } = decodeRecord(ring.bytes, 0);
    assert.equal(properties, propertyText({ REAL_TOPIC: 'T', REAL_QID: '2', DELAY: '3' }));
    assert.equal(totalBytes, ring.commits[0].size);
    assert.equal(sysFlag & 12, 8);
  });

  it('is not made of a damaged half, or of one that does not say where to', () => {
    const damaged = halfWith({});
    damaged.writeInt32BE(damaged.readInt32BE(BODY_CRC_AT) ^ 1, BODY_CRC_AT);
    const large = halfWith({}, Buffer.alloc(40_000));
    for (const [half, problem] of [
      [damaged, /body is damaged/],
      [halfWith({ REAL_TOPIC: '' }), /topic is blank/],
      [halfWith({ REAL_TOPIC: 'a/b' }), /illegal characters/],
      [halfWith({ REAL_QID: '-1' }), /queue id/],
      [halfWith({ REAL_QID: 'x' }), /queue id/],
      [large, /ringBytes/],
    ] as const) {
      const { ring, handed } = put(half);
      assert.match((handed as { problem: string }).problem, problem);
      assert.equal(ring.commits.length, 0);
    }
  });
});
