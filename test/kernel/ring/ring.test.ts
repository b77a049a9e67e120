import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RingReader } from '../../../kernel/ring/reader.js';
import { allocateRing, Cursor, SlotStatus, SlotWord, type RingMemory } from '../../../kernel/ring/slots.js';
import { RingWriter } from '../../../kernel/ring/writer.js';

const RING_BYTES = 1000;
const SLOTS = 8;

type Step =
  | { readonly do: 'add'; readonly size: number }
  | { readonly do: 'publish' }
  | { readonly do: 'consume'; readonly count: number }
  | { readonly do: 'release'; readonly count: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), size: fc.integer({ min: 1, max: 480 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('publish' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('consume' as const), count: fc.integer({ min: 1, max: SLOTS }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('release' as const), count: fc.integer({ min: 1, max: SLOTS }) }),
  },
);

interface Unit {
  readonly number: number;
  readonly start: number;
  readonly size: number;
  state: 'committed' | 'published' | 'completed';
}

/** Both ends of one ring and what must be in it; every look compares the two. */
class Model {
  readonly writer: RingWriter;
  readonly reader: RingReader;
  readonly units: Unit[] = [];
  number = 0;
  refused = 0;

  constructor(memory: RingMemory) {
    this.writer = new RingWriter(memory);
    this.reader = new RingReader(memory);
  }

  run(steps: readonly Step[]): void {
    for (const one of steps) {
      if (one.do === 'add') this.add(one.size);
      else if (one.do === 'publish') this.publish();
      else if (one.do === 'consume') this.consume(one.count);
      else this.release(one.count);
      assert.equal(this.writer.inFlight, this.units.length);
    }
  }

  add(size: number): boolean {
    const start = this.writer.reserve(size);
    if (start < 0) {
      this.refused++;
      assert.ok(this.units.length > 0, 'an empty ring takes a unit of half its size');
      return false;
    }
    assert.ok(start + size <= RING_BYTES, 'the unit lies in one piece');
    for (const other of this.units)
      assert.ok(start + size <= other.start || other.start + other.size <= start, 'units do not overlap');
    this.writer.bytes.fill(this.number & 0xff, start, start + size);
    this.writer.commit(size, this.number, this.number % 3);
    this.units.push({ number: this.number++, start, size, state: 'committed' });
    return true;
  }

  publish(): void {
    const fresh = this.units.filter(({ state }) => state === 'committed');
    assert.equal(this.writer.publish(), fresh.length > 0);
    for (const unit of fresh) unit.state = 'published';
  }

  consume(count: number): void {
    const waiting = this.units.filter(({ state }) => state === 'published');
    assert.equal(this.reader.available(), waiting.length);
    const taken = waiting.slice(0, count);
    taken.forEach((unit, nth) => {
      const start = this.reader.word(nth, SlotWord.start);
      const size = this.reader.word(nth, SlotWord.bytes);
      assert.deepEqual([start, size], [unit.start, unit.size]);
      assert.equal(this.reader.word(nth, SlotWord.row), unit.number);
      assert.equal(this.reader.word(nth, SlotWord.records), unit.number % 3);
      assert.ok(
        this.reader.bytes.subarray(start, start + size).every((byte) => byte === (unit.number & 0xff)),
        'contents are as they were written',
      );
      this.reader.setStatus(nth, statusFor(unit.number));
      unit.state = 'completed';
    });
    this.reader.complete(taken.length);
  }

  release(count: number): void {
    const completed = this.units.filter(({ state }) => state === 'completed');
    assert.equal(this.writer.completed(), completed.length);
    for (const unit of completed.slice(0, count)) {
      assert.equal(this.writer.statusOfOldest(), statusFor(unit.number));
      assert.equal(this.writer.startOfOldest(), unit.start);
      assert.equal(this.writer.bytesOfOldest(), unit.size);
      this.writer.release();
      this.units.shift();
    }
  }

  drain(): void {
    this.publish();
    this.consume(SLOTS);
    this.release(SLOTS);
    assert.equal(this.units.length, 0);
    assert.equal(this.writer.inFlight, 0);
    assert.equal(this.writer.bytesInFlight, 0);
  }
}

function statusFor(number: number): SlotStatus {
  return ((number % 5) + 1) as SlotStatus;
}

/** A ring whose sequence numbers begin at `sequence`. */
function ringAt(sequence: number): RingMemory {
  const memory = allocateRing(RING_BYTES, SLOTS);
  new Int32Array(memory.cursors).fill(sequence);
  return memory;
}

describe('hand-off ring', () => {
  it('B05 keeps contents and order over any sizes, wraps and full states, and loses no slot', () => {
    let refused = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 200 }), (steps) => {
        const model = new Model(allocateRing(RING_BYTES, SLOTS));
        model.run(steps);
        refused += model.refused;
        model.drain();
        // Free count is back at its start value: as many units fit as at first.
        for (let i = 0; i < SLOTS; i++) assert.ok(model.add(60));
        assert.equal(model.add(1), false);
      }),
      { numRuns: 300 },
    );
    assert.ok(refused > 100, 'full rings were met');
  });

  for (const [name, start] of [
    ['2^31', 0x7fffffff - 20],
    ['2^32', -20],
  ] as const)
    it(`counts on over ${name}`, () => {
      const memory = ringAt(start | 0);
      const model = new Model(memory);
      for (let i = 0; i < 60; i++) {
        model.add(100);
        if (i % 3 === 2) model.drain();
      }
      model.drain();
      assert.equal(model.number, 60);
      assert.equal(new Int32Array(memory.cursors)[Cursor.completed], (start + 60) | 0, 'it did pass the edge');
    });

  it('is full by slots before it is full by bytes, and the other way round', () => {
    const small = new RingWriter(allocateRing(RING_BYTES, SLOTS));
    for (let i = 0; i < SLOTS; i++) small.commit(small.reserve(1) < 0 ? assert.fail('has a slot') : 1, 0, 1);
    assert.equal(small.reserve(1), -1);

    const large = new RingWriter(allocateRing(RING_BYTES, SLOTS));
    assert.equal(large.reserve(600), 0);
    large.commit(600, 0, 1);
    assert.equal(large.reserve(401), -1);
    assert.equal(large.reserve(400), 600);
  });

  it('frees what was skipped at the end together with the unit that skipped it', () => {
    const { writer, reader } = new Model(allocateRing(RING_BYTES, SLOTS));
    const finish = (): void => {
      writer.publish();
      reader.setStatus(0, SlotStatus.stored);
      reader.complete(1);
      writer.release();
    };
    writer.reserve(700);
    writer.commit(700, 0, 1);
    assert.equal(writer.reserve(400), -1, 'neither the rest nor the beginning has room');
    finish();
    assert.equal(writer.reserve(400), 0, 'begins at the beginning');
    writer.commit(400, 0, 1);
    assert.equal(writer.bytesInFlight, 700, '300 skipped and 400 used');
    finish();
    assert.equal(writer.bytesInFlight, 0);
  });

  it('shows nothing that was not published', () => {
    const { writer, reader } = new Model(allocateRing(RING_BYTES, SLOTS));
    assert.equal(writer.publish(), false);
    writer.reserve(10);
    writer.commit(10, 0, 1);
    assert.equal(reader.available(), 0);
    assert.equal(writer.publish(), true);
    assert.equal(writer.publish(), false);
    assert.equal(reader.available(), 1);
  });

  it('is not released before it has a status', () => {
    const { writer, reader } = new Model(allocateRing(RING_BYTES, SLOTS));
    writer.reserve(10);
    writer.commit(10, 0, 1);
    writer.publish();
    reader.complete(1);
    assert.throws(() => writer.statusOfOldest(), /a completed unit has no status/);
  });

  it('goes on where a reader before it stopped', () => {
    const memory = allocateRing(RING_BYTES, SLOTS);
    const model = new Model(memory);
    for (let i = 0; i < 3; i++) model.add(10);
    model.publish();
    model.consume(1);
    const next = new RingReader(memory);
    assert.equal(next.available(), 2);
    assert.equal(next.word(0, SlotWord.row), 1);
  });

  it('wants a power of two', () => {
    assert.throws(() => allocateRing(RING_BYTES, 12), /ringSlots must be a power of two, not 12/);
  });
});
