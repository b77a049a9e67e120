import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../kernel/base/clock.js';
import { Doorbell } from '../../kernel/ring/wait.js';

export interface BellGame {
  /** Two bells: of player 0 and of player 1. */
  readonly bells: Int32Array;
  /** One word: moves made so far; player `moves % 2` has the next one. */
  readonly moves: Int32Array;
  readonly player: number;
  readonly movesMax: number;
  /** A sleep that lasts so long was not ended by a bell. */
  readonly ceilingMs: number;
}

/** Sleeps until it has the move, makes it, rings. Returns how many sleeps nobody ended. */
export function playBells({ bells, moves, player, movesMax, ceilingMs }: BellGame): number {
  const own = new Doorbell(bells, player);
  const other = new Doorbell(bells, 1 - player);
  const mine = (): boolean => Atomics.load(moves, 0) >= movesMax || Atomics.load(moves, 0) % 2 === player;
  let stalls = 0;
  for (;;) {
    while (!mine()) {
      const begun = systemClock.monoMs();
      own.sleep(ceilingMs, mine);
      if (systemClock.monoMs() - begun >= ceilingMs) stalls++;
    }
    if (Atomics.load(moves, 0) >= movesMax) return stalls;
    Atomics.add(moves, 0, 1);
    other.ring();
  }
}

if (parentPort !== null && workerData !== null) {
  const game = workerData as BellGame;
  const stalls = playBells(game);
  // The other one may sleep still, with no move to wait for.
  new Doorbell(game.bells, 1 - game.player).ring();
  parentPort.postMessage(stalls);
}
