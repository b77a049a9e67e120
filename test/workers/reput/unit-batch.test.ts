import assert from 'node:assert/strict';
import fc from 'fast-check';
import { UNIT_BYTES, unitPhysicalOffset } from '../../../store/consumequeue/unit.js';
import { UnitBatch } from '../../../workers/reput/unit-batch.js';

/** Row, first queue offset and physical offsets of each write. */
type Write = [row: number, firstOffset: number, physicalOffsets: number[]];

function drained(batch: UnitBatch): Write[] {
  const writes: Write[] = [];
  batch.drain((row, firstOffset, bytes, byteLength) => {
    const physicalOffsets: number[] = [];
    for (let at = 0; at < byteLength; at += UNIT_BYTES) physicalOffsets.push(unitPhysicalOffset(bytes, at));
    writes.push([row, firstOffset, physicalOffsets]);
  });
  return writes;
}

describe('unit batch', () => {
  it('groups by row, in order of the first unit', () => {
    const batch = new UnitBatch();
    for (const [row, offset] of [
      [7, 100],
      [3, 0],
      [7, 101],
      [3, 1],
    ])
      assert.equal(batch.add(row, offset, row * 1000 + offset, 50, 0, 0, 0), true);
    assert.deepEqual(drained(batch), [
      [7, 100, [7100, 7101]],
      [3, 0, [3000, 3001]],
    ]);
    assert.deepEqual(drained(batch), []);
  });

  it('takes no unit that does not follow its row, be it behind a gap, twice or before', () => {
    for (const offset of [12, 11 - 1, 9]) {
      const batch = new UnitBatch();
      batch.add(1, 10, 1, 50, 0, 0, 0);
      assert.equal(batch.add(1, offset, 2, 50, 0, 0, 0), false);
      assert.deepEqual(drained(batch), [[1, 10, [1]]]);
      assert.equal(batch.add(1, offset, 2, 50, 0, 0, 0), true);
      assert.deepEqual(drained(batch), [[1, offset, [2]]]);
    }
  });

  it('grows with its row, and forgets what is cleared', () => {
    const batch = new UnitBatch();
    for (let i = 0; i < 1000; i++) batch.add(0, i, i * 10, 50, 0, 0, 0);
    assert.deepEqual(drained(batch), [[0, 0, Array.from({ length: 1000 }, (_, i) => i * 10)]]);
    batch.add(0, 5, 5, 50, 0, 0, 0);
    batch.clear();
    batch.add(0, 9, 9, 50, 0, 0, 0);
    assert.deepEqual(drained(batch), [[0, 9, [9]]]);
  });

  it('keeps every unit over any order of rows', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 200 }), (rows) => {
        const batch = new UnitBatch();
        const next = new Map<number, number>();
        const expected = new Map<number, number[]>();
        rows.forEach((row, i) => {
          const offset = next.get(row) ?? 0;
          next.set(row, offset + 1);
          expected.set(row, [...(expected.get(row) ?? []), i]);
          assert.equal(batch.add(row, offset, i, 50, 0, 0, 0), true);
        });
        assert.deepEqual(
          drained(batch),
          [...expected].map(([row, physicalOffsets]) => [row, 0, physicalOffsets]),
        );
      }),
    );
  });
});
