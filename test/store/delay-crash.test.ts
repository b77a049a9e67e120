import { DelayWorld } from '../support/life/delay-world.js';
import { withSeed } from '../support/life/lives.js';
import type { Loss } from '../support/lossy-inode.js';
import { SeededRandom } from '../support/seeded-random.js';
import { sized, wantedSeed } from '../support/size.js';

const LIMIT_MS = sized(60_000, 3_600_000);
const SEEDS = sized(120, 20_000);
/** Changing calls of the disk in a life that is cut at each of them. */
const CUTS = sized(160, 500);
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

/** A life that ends by a stop, one that is cut at this operation, and those in which the rest is delivered. */
async function cutAt(operation: number, loss: Loss, sync: boolean): Promise<void> {
  const seed = wantedSeed ?? 4711;
  const world = new DelayWorld(seed, sync);
  try {
    await world.live(ACTIONS, operation % 2 === 0 ? 'stop' : 'kill', 'random');
    world.files.cutAt(operation);
    await world.live(3 * ACTIONS, 'stop', loss);
    await world.settle();
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
      for (let operation = 1; operation <= CUTS; operation++) await cutAt(operation, loss, sync);
    });
});
