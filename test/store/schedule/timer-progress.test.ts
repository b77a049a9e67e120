import assert from 'node:assert/strict';
import fc from 'fast-check';
import { OffsetSet } from '../../../store/schedule/offset-set.js';
import { decodeTimerProgress, encodeTimerProgress } from '../../../store/schedule/timer-progress.js';

function setOf(offsets: readonly number[]): OffsetSet {
  const set = new OffsetSet();
  for (const offset of offsets) set.add(offset);
  return set;
}

const sets = fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 50 });

describe('timer progress', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(sets, (offsets) => {
        const end = 200_001;
        const read = decodeTimerProgress(Buffer.from(encodeTimerProgress({ end, pending: setOf(offsets) })));
        assert.equal(read.end, end);
        assert.deepEqual(read.pending.contents(), setOf(offsets).contents());
      }),
    );
  });

  it('takes nothing from a file of which one byte changed, or that ends early', () => {
    fc.assert(
      fc.property(sets, fc.nat(), fc.nat({ max: 254 }), (offsets, position, change) => {
        const content = Buffer.from(encodeTimerProgress({ end: 5, pending: setOf(offsets) }));
        const at = position % content.length;
        assert.throws(() => decodeTimerProgress(content.subarray(0, at)));
        content[at] ^= change + 1;
        assert.throws(() => decodeTimerProgress(content));
      }),
    );
  });
});
