import { DelayWorld } from '../support/life/delay-world.js';
import { withSeed } from '../support/life/lives.js';
import type { Loss } from '../support/lossy-inode.js';
import { SeededRandom } from '../support/seeded-random.js';
import { sized, wantedSeed } from '../support/size.js';

const LIMIT_MS = sized(60_000, 3_600_000);
const SEEDS = sized(80, 20_000);
/** A life has some 150 changing calls of the disk, the last of them in its stop. Between two that a run cuts. */
const STEP = sized(3, 1);
const SCRIPTS = sized(1, 40);
const FIRST_SCRIPT = 4711;
const ACTIONS = 80;

async function survive(seed: number): Promise<void> {
  const random = new SeededRandom(Math.imul(seed, 7919));
  const world = new DelayWorld(seed, seed % 2 === 0);
  try {
    for (let life = 1 + random.below(4); life > 0; life--) {
      const dice = random.next();
      if (dice < 0.6) world.files.cutAt(1 + random.below(300));
      await world.live(ACTIONS, dice < 0.8 ? 'kill' : 'stop', 'random');
    }
    await world.settle();
  } catch (error) {
    throw withSeed(seed, seed % 2 === 0 ? 'SYNC_FLUSH' : 'ASYNC_FLUSH', error);
  }
}

/** A life that ends by a stop, one that is cut at this operation, and those in which the rest is delivered. False: it has not so many. */
async function cutAt(seed: number, operation: number, loss: Loss, sync: boolean): Promise<boolean> {
  const world = new DelayWorld(seed, sync);
  try {
    await world.live(ACTIONS, 'stop', 'random');
    world.files.cutAt(operation);
    const ended = await world.live(ACTIONS, 'stop', loss);
    await world.settle();
    return ended === 'power cut';
  } catch (error) {
    throw withSeed(seed, `lost: ${loss}, cut at operation ${operation}`, error);
  }
}

describe('delayed messages on a disk that loses power', () => {
  it(`are all delivered, none early, none twice without a kill, in ${SEEDS} seeds of lives`, async function () {
    this.timeout(LIMIT_MS);
    if (wantedSeed !== undefined) return survive(wantedSeed);
    for (let seed = 1; seed <= SEEDS; seed++) await survive(seed);
  });

  for (const [sync, loss] of [
    [true, 'random'],
    [false, 'everything'],
  ] as const)
    it(`survive a cut at each operation of a life, ${sync ? 'SYNC' : 'ASYNC'}_FLUSH`, async function () {
      this.timeout(LIMIT_MS);
      const begin = wantedSeed ?? FIRST_SCRIPT;
      for (let seed = begin; seed < begin + SCRIPTS; seed++)
        for (let operation = 1; await cutAt(seed, operation, loss, sync); operation += STEP);
    });
});
