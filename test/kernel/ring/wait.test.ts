import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../../kernel/base/clock.js';
import { Doorbell } from '../../../kernel/ring/wait.js';
import type { BellGame } from '../../support/bell-player.js';

const PLAYER = new URL('../../support/bell-player.js', import.meta.url);
const CEILING_MS = 3000;

function game(movesMax: number): Omit<BellGame, 'player'> {
  return {
    bells: new Int32Array(new SharedArrayBuffer(2 * Doorbell.wordsPerBell * 4)),
    moves: new Int32Array(new SharedArrayBuffer(4)),
    movesMax,
    ceilingMs: CEILING_MS,
  };
}

async function stallsOf(workerData: BellGame): Promise<number> {
  const worker = new Worker(PLAYER, { workerData });
  const [stalls] = (await once(worker, 'message')) as [number];
  await worker.terminate();
  return stalls;
}

describe('doorbell', () => {
  it('loses no wake-up between two threads that block', async () => {
    const shared = game(40_000);
    const stalls = await Promise.all([stallsOf({ ...shared, player: 0 }), stallsOf({ ...shared, player: 1 })]);
    assert.equal(shared.moves[0], shared.movesMax);
    assert.deepEqual(stalls, [0, 0]);
  });

  it('loses no wake-up between a thread that blocks and an event loop that does not', async () => {
    const shared = game(4000);
    const other = stallsOf({ ...shared, player: 1 });
    const own = new Doorbell(shared.bells, 0);
    const theirs = new Doorbell(shared.bells, 1);
    const moves = (): number => Atomics.load(shared.moves, 0);
    const mine = (): boolean => moves() >= shared.movesMax || moves() % 2 === 0;
    let stalls = 0;
    while (moves() < shared.movesMax) {
      const begun = systemClock.monoMs();
      await own.sleepAsync(CEILING_MS, mine);
      if (systemClock.monoMs() - begun >= CEILING_MS) stalls++;
      if (!mine() || moves() >= shared.movesMax) continue;
      Atomics.add(shared.moves, 0, 1);
      theirs.ring();
    }
    theirs.ring();
    assert.deepEqual([stalls, await other], [0, 0]);
  });

  it('does not sleep when a last look finds work', () => {
    const bell = Doorbell.at({ words: new Int32Array(new SharedArrayBuffer(8)), index: 0 });
    const begun = systemClock.monoMs();
    bell.sleep(CEILING_MS, () => true);
    assert.ok(systemClock.monoMs() - begun < CEILING_MS / 2);
  });

  it('sleeps no longer than its ceiling', async () => {
    const bell = Doorbell.at({ words: new Int32Array(new SharedArrayBuffer(8)), index: 0 });
    bell.sleep(5, () => false);
    await bell.sleepAsync(5, () => false);
  });

  it('says that it sleeps only while it does: ringing an owner that is awake writes nothing', () => {
    const words = new Int32Array(new SharedArrayBuffer(8));
    const bell = new Doorbell(words, 0);
    bell.ring();
    assert.deepEqual([...words], [0, 0]);
    bell.sleep(CEILING_MS, () => {
      assert.equal(words[1], 1);
      bell.ring();
      assert.equal(words[0], 1);
      return false;
    });
    assert.deepEqual([...words], [1, 0]);
  });

  it('has two words of its own for each bell', () => {
    const words = new Int32Array(new SharedArrayBuffer(16));
    const second = Doorbell.at({ words, index: 1 });
    second.sleep(CEILING_MS, () => {
      second.ring();
      return false;
    });
    assert.deepEqual([...words.subarray(0, 2)], [0, 0]);
    assert.equal(words[2], 1);
  });
});
