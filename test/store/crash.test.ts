import assert from 'node:assert/strict';
import { Lives, withSeed } from '../support/life/lives.js';
import type { Ending } from '../support/life/life-check.js';
import type { Loss } from '../support/lossy-inode.js';
import { SeededRandom } from '../support/seeded-random.js';
import { sized, wantedSeed } from '../support/size.js';

const LIMIT_MS = sized(240_000, 7_200_000);
const SEEDS = sized(700, 100_000);
/** Changing calls of the disk in a life that is cut at each of them, and how many such lives. */
const CUTS = 500;
const SCRIPTS = sized(1, 8);
const FIRST_SCRIPT = 4711;
const ACTIONS = 60;

/** Lives with cuts, kills and stops in a row, and two at the end in which all of it must still be there. */
async function survive(seed: number): Promise<void> {
  const random = new SeededRandom(Math.imul(seed, 7919));
  const lives = new Lives({ seed, sync: seed % 2 === 0 });
  try {
    for (let life = 1 + random.below(4); life > 0; life--) {
      const dice = random.next();
      if (dice < 0.7) lives.files.cutAt(1 + random.below(random.chance(0.3) ? 40 : 250));
      await lives.live(ACTIONS, dice < 0.85 ? 'kill' : 'stop', 'random');
    }
    await lives.live(5, 'stop', 'nothing');
    await lives.live(0, 'stop', 'nothing');
  } catch (error) {
    throw withSeed(seed, seed % 2 === 0 ? 'SYNC_FLUSH' : 'ASYNC_FLUSH', error);
  }
}

/** A life that ends by a kill or a cut, one that is cut at this operation, and one to look at. */
async function cutAt(seed: number, operation: number, loss: Loss, sync: boolean): Promise<void> {
  const first: Ending = operation % 2 === 0 ? 'kill' : 'stop';
  const lives = new Lives({ seed, sync });
  try {
    await lives.live(ACTIONS, first, 'random');
    lives.files.cutAt(operation);
    const ended = await lives.live(12 * ACTIONS, 'stop', loss);
    assert.equal(ended, 'power cut', 'the life is too short for this operation');
    await lives.live(5, 'stop', 'nothing');
  } catch (error) {
    throw withSeed(seed, `${first}, lost: ${loss}, cut at operation ${operation}`, error);
  }
}

describe('a broker on a disk that loses power', () => {
  it(`loses and invents nothing in ${SEEDS} seeds of lives`, async function () {
    this.timeout(LIMIT_MS);
    if (wantedSeed !== undefined) return survive(wantedSeed);
    for (let seed = 1; seed <= SEEDS; seed++) await survive(seed);
  });

  for (const sync of [true, false]) {
    const losses: readonly Loss[] = sized(['random'], ['random', 'everything', 'nothing']);
    it(`survives a cut at each operation of a life, ${sync ? 'SYNC' : 'ASYNC'}_FLUSH`, async function () {
      this.timeout(LIMIT_MS);
      const begin = wantedSeed ?? FIRST_SCRIPT;
      for (let seed = begin; seed < begin + SCRIPTS; seed++) {
        for (let operation = 1; operation <= CUTS; operation++)
          for (const loss of losses) await cutAt(seed, operation, loss, sync);
      }
    });
  }
});
