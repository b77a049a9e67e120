import assert from 'node:assert/strict';
import { restOf } from '../../../kernel/threads/steps.js';

const resting = (...rests: (number | undefined)[]): number =>
  restOf(
    rests.map((restMs) => ({
      service: { ...(restMs === undefined ? {} : { restMs }), step: () => 0, close: () => undefined },
    })),
  );

describe('kernel/threads: how long a thread rests', () => {
  it('is as long as all of its services may', () => {
    assert.deepEqual([resting(), resting(undefined), resting(5), resting(5, 3)], [0, 0, 5, 3]);
    assert.deepEqual([resting(5, undefined), resting(0, 5)], [0, 0]);
  });

  it('is decided by the others when one does not mind', () => {
    assert.deepEqual([resting(Infinity), resting(Infinity, Infinity)], [0, 0]);
    assert.deepEqual([resting(Infinity, 5), resting(Infinity, undefined)], [5, 0]);
  });
});
