import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ArrivalRing } from '../../../kernel/ring/arrivals.js';

const ENTRIES = 8;
/** Index of the word that says so. */
const OVERFLOW = 2;

function drained(ring: ArrivalRing): { rows: number[]; all: number } {
  const seen = { rows: [] as number[], all: 0 };
  ring.drain(
    (row) => void seen.rows.push(row),
    () => void seen.all++,
  );
  return seen;
}

describe('arrival ring', () => {
  it('tells rows in order, once', () => {
    const ring = new ArrivalRing(ArrivalRing.allocate(ENTRIES));
    assert.equal(ring.isEmpty(), true);
    for (const row of [5, 3, 5]) ring.push(row);
    assert.equal(ring.isEmpty(), false);
    assert.deepEqual(drained(ring), { rows: [5, 3, 5], all: 0 });
    assert.equal(ring.isEmpty(), true);
    assert.deepEqual(drained(ring), { rows: [], all: 0 });
  });

  it('tells to look at all when it could not keep them', () => {
    const ring = new ArrivalRing(ArrivalRing.allocate(ENTRIES));
    for (let row = 0; row <= ENTRIES; row++) ring.push(row);
    assert.deepEqual(drained(ring), { rows: [0, 1, 2, 3, 4, 5, 6, 7], all: 1 });
    assert.equal(ring.isEmpty(), true);
    ring.push(9);
    assert.deepEqual(drained(ring), { rows: [9], all: 0 });
  });

  it('is not empty while an overflow has not been told', () => {
    const memory = ArrivalRing.allocate(ENTRIES);
    const ring = new ArrivalRing(memory);
    // As when reput finds the ring full and says so only after the network thread has taken all of it.
    new Int32Array(memory)[OVERFLOW] = 1;
    assert.equal(ring.isEmpty(), false);
    assert.deepEqual(drained(ring), { rows: [], all: 1 });
    assert.equal(ring.isEmpty(), true);
  });

  it('loses no row over any sequence of pushes and drains', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 50 }), { maxLength: 100 }), (steps) => {
        const ring = new ArrivalRing(ArrivalRing.allocate(ENTRIES));
        let owed = new Set<number>();
        const look = (): void => {
          const { rows, all } = drained(ring);
          for (const row of rows) owed.delete(row);
          if (all > 0) owed = new Set();
          assert.deepEqual([...owed], []);
        };
        for (const row of steps) {
          if (row < 0) look();
          else {
            owed.add(row);
            ring.push(row);
          }
        }
        look();
      }),
    );
  });

  it('counts on when its numbers wrap', () => {
    const memory = ArrivalRing.allocate(ENTRIES);
    new Int32Array(memory).fill(0x7ffffffd, 0, 2);
    const ring = new ArrivalRing(memory);
    for (let row = 0; row < ENTRIES + 1; row++) ring.push(row);
    assert.deepEqual(drained(ring), { rows: [0, 1, 2, 3, 4, 5, 6, 7], all: 1 }, 'full is full, also at the edge');
    for (let round = 0; round < 4; round++) {
      for (let row = 0; row < 6; row++) ring.push(row);
      assert.deepEqual(drained(ring), { rows: [0, 1, 2, 3, 4, 5], all: 0 });
    }
  });

  it('knows whether anybody waits', () => {
    const memory = ArrivalRing.allocate(ENTRIES);
    const ring = new ArrivalRing(memory);
    assert.equal(ring.wanted, false);
    ring.setWanted(true);
    assert.equal(new ArrivalRing(memory).wanted, true);
  });

  it('wants a power of two', () => {
    assert.throws(() => ArrivalRing.allocate(12), RangeError);
  });
});
