import assert from 'node:assert/strict';
import fc from 'fast-check';
import { UnitsAhead } from '../../../plugins/reput/units-ahead.js';
import { UNIT_BYTES } from '../../../store/consumequeue/unit.js';

/** Units of a row as a file has them: each says its row and offset. */
function units(row: number, offset: number, count: number): Buffer {
  const bytes = Buffer.alloc(count * UNIT_BYTES);
  for (let i = 0; i < count; i++) {
    bytes.writeInt32BE(row, i * UNIT_BYTES);
    bytes.writeInt32BE(offset + i, i * UNIT_BYTES + 4);
  }
  return bytes;
}

const look = fc.record({
  row: fc.integer({ min: 0, max: 3 }),
  offset: fc.integer({ min: 0, max: 700 }),
  count: fc.integer({ min: 1, max: 400 }),
  grow: fc.integer({ min: 0, max: 60 }),
});

describe('units read ahead', () => {
  it('are those of the file, and never more than are dispatched', () => {
    fc.assert(
      fc.property(fc.array(look, { maxLength: 40 }), (looks) => {
        const ahead = new UnitsAhead();
        const ends = [300, 300, 300, 300];
        for (const { row, offset, count: wanted, grow } of looks) {
          ends[row] += grow;
          const available = ends[row] - offset;
          if (available <= 0) continue;
          const count = Math.min(wanted, available);
          const found = ahead.read(row, offset, count, available, (target, fetched) => {
            assert.ok(fetched >= count && fetched <= available, 'nothing is read that is not dispatched');
            return units(row, offset, fetched).copy(target);
          });
          assert.deepEqual(found, units(row, offset, count));
        }
      }),
    );
  });

  it('spare a read when the queue is read on', () => {
    const ahead = new UnitsAhead();
    let reads = 0;
    for (let offset = 0; offset + 32 <= 1024; offset += 32)
      ahead.read(0, offset, 32, 1024 - offset, (target, count) => {
        reads++;
        return units(0, offset, count).copy(target);
      });
    assert.ok(reads <= 8, `${reads} reads for 32 looks`);
  });

  it('are as few as the file has', () => {
    const ahead = new UnitsAhead();
    assert.equal(ahead.read(0, 0, 10, 10, (target) => units(0, 0, 7).copy(target)).length, 7 * UNIT_BYTES);
    assert.equal(ahead.read(0, 0, 10, 10, (target) => units(0, 0, 10).copy(target)).length, 10 * UNIT_BYTES);
  });
});
