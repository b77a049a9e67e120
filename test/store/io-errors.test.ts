import assert from 'node:assert/strict';
import { messageOf } from '../../kernel/base/errors.js';
import { Lives } from '../support/life/lives.js';
import { SeededRandom } from '../support/seeded-random.js';
import { sized, wantedSeed } from '../support/size.js';

const LIMIT_MS = sized(240_000, 7_200_000);
/** Changing calls of a life that fail, one in each run. */
const CALLS = sized(60, 700);
const CODES = ['EIO', 'ENOSPC'] as const;

/**
 * A life on a disk of which one call, or all from one on, fail; the power cut that takes what was not synced; and two lives on a disk
 * that is well. Whatever the broker acknowledged must be there, and it must start.
 */
async function failAt(call: number, code: string, forever: boolean, sync: boolean): Promise<void> {
  const seed = wantedSeed ?? 815;
  const random = new SeededRandom(seed + call);
  const lives = new Lives({ seed, sync, failing: true });
  try {
    await lives.live(20, random.chance(0.5) ? 'kill' : 'stop', 'random');
    lives.files.fail({ operation: 'any', nth: call, code, forever });
    await lives.live(120, random.chance(0.5) ? 'kill' : 'stop', 'everything');
    if (random.chance(0.7)) await lives.live(10, 'kill', 'everything');
    lives.files = lives.files.restart('everything');
    lives.note('power cut');
    await lives.live(10, 'stop', 'everything');
    assert.equal(
      await lives.live(0, 'stop', 'everything'),
      'stop',
      'the store cannot be served on a disk that is well',
    );
  } catch (error) {
    const what = `${code} ${forever ? 'from call' : 'at call'} ${call} on, ${sync ? 'SYNC' : 'ASYNC'}_FLUSH`;
    throw new Error(`${messageOf(error)} (${what}; CHAOS_SEED=${seed} repeats it)`, { cause: error });
  }
}

describe('a broker on a disk that fails', () => {
  for (const code of CODES) {
    for (const forever of [false, true]) {
      it(`keeps its promises when any call fails with ${code}, ${forever ? 'and all after it' : 'once'}`, async function () {
        this.timeout(LIMIT_MS);
        for (let call = 1; call <= CALLS; call++) await failAt(call, code, forever, call % 2 === 0);
      });
    }
  }
});
