import assert from 'node:assert/strict';
import type { Clock } from '../../../kernel/base/clock.js';
import { ProtocolError } from '../../../protocol/errors.js';
import {
  createOffsetMessageId,
  decodeOffsetMessageId,
  UniqueIdGenerator,
} from '../../../protocol/message/message-id.js';
import { propertyOf, PropertyName } from '../../../protocol/message/properties.js';
import { decodeSendMessageV2 } from '../../../protocol/headers/send-message-v2.js';
import { decodeCommand } from '../../../protocol/command.js';
import { golden, type CapturedFrame } from '../../golden/load.js';

class HandClock implements Clock {
  constructor(public now: number) {}
  wallMs(): number {
    return this.now;
  }
  monoMs(): number {
    return 0;
  }
}

describe('protocol/message/message-id', () => {
  it('B33 makes and reads offset ids of 32 and 56 digits', () => {
    const v4 = createOffsetMessageId(Buffer.from([192, 168, 0, 254]), 10911, 2 ** 40 + 9);
    assert.equal(v4, 'C0A800FE00002A9F0000010000000009');
    assert.deepEqual(decodeOffsetMessageId(v4.toLowerCase()), {
      address: Buffer.from([192, 168, 0, 254]),
      host: '192.168.0.254',
      port: 10911,
      physicalOffset: 2 ** 40 + 9,
    });
    const v6 = createOffsetMessageId(Buffer.concat([Buffer.alloc(15), Buffer.from([1])]), 10911, 1);
    assert.equal(v6, '0000000000000000000000000000000100002A9F0000000000000001');
    assert.equal(decodeOffsetMessageId(v6).host, '0:0:0:0:0:0:0:1');
  });

  for (const id of [
    '',
    'C0A800FE00002A9F000001000000000',
    'G'.repeat(32),
    'C0A800FE00002A9F00000100000000090',
    '0'.repeat(57),
  ]) {
    it(`refuses ${id || 'nothing'} as an offset id`, () => {
      assert.throws(() => decodeOffsetMessageId(id), ProtocolError);
    });
  }

  const may = new Date(2024, 4, 10, 12, 0, 0, 5).getTime();
  const source = { address: Buffer.from([10, 1, 2, 3]), pid: 0x12345, random: () => Buffer.from([1, 2, 3, 4]) };

  it('lays unique ids out as 4.9.7: address, pid, four bytes, ms of the month, counter', () => {
    const ids = new UniqueIdGenerator({ ...source, clock: new HandClock(may) });
    const elapsed = (9 * 24 + 12) * 3600_000 + 5;
    const tick = elapsed.toString(16).toUpperCase().padStart(8, '0');
    assert.equal(ids.next(), `0A010203234501020304${tick}0000`);
    assert.equal(ids.next(), `0A010203234501020304${tick}0001`);
  });

  it('has the length of the ids of the real client', () => {
    const sends = golden<CapturedFrame[]>('frames.json').filter(({ kind, code }) => kind === 'request' && code === 310);
    for (const { hex } of sends) {
      const frame = Buffer.from(hex, 'hex');
      const { properties } = decodeSendMessageV2(decodeCommand(frame, 4, frame.length).ext);
      const id = propertyOf(properties!, PropertyName.UNIQ_KEY)!;
      const address = Buffer.alloc(id.length === 32 ? 4 : 16, 1);
      assert.equal(new UniqueIdGenerator({ ...source, address, clock: new HandClock(may) }).next().length, id.length);
    }
    assert.ok(sends.length > 0);
  });

  it('repeats none when the clock stands still, steps back, or the counter runs over (B39)', () => {
    const clock = new HandClock(may);
    const ids = new UniqueIdGenerator({ ...source, clock });
    const seen = new Set<string>();
    for (let index = 0; index < 200_000; index++) {
      if (index === 70_000) clock.now -= 3_600_000;
      if (index === 150_000) clock.now += 3_600_001;
      seen.add(ids.next());
    }
    assert.equal(seen.size, 200_000);
  });

  it('takes new random bytes when a month begins and its time starts over', () => {
    const clock = new HandClock(may);
    let calls = 0;
    const ids = new UniqueIdGenerator({ ...source, clock, random: () => Buffer.from([0, 0, 0, ++calls]) });
    const first = ids.next();
    clock.now = new Date(2024, 5, 1, 0, 0, 0, 7).getTime();
    const second = ids.next();
    assert.equal(second, '0A0102032345000000020000000700' + '01');
    assert.notEqual(first.slice(0, 20), second.slice(0, 20));
    clock.now = may;
    assert.ok(ids.next() > second);
  });

  it('keeps two generators of one process apart (B39)', () => {
    const { random: _, ...plain } = source;
    const generators = Array.from({ length: 8 }, () => new UniqueIdGenerator({ ...plain, clock: new HandClock(may) }));
    const ids = new Set(generators.flatMap((generator) => Array.from({ length: 1000 }, () => generator.next())));
    assert.equal(ids.size, 8000);
  });

  it('takes addresses of 4 or 16 bytes only', () => {
    assert.throws(
      () => new UniqueIdGenerator({ ...source, address: Buffer.alloc(5), clock: new HandClock(0) }),
      RangeError,
    );
  });
});
