import type { Clock } from '../../kernel/base/clock.js';

/** A clock that moves only when told; wall and monotonic time move together unless `stepWall` sets the wall alone. */
export class FakeClock implements Clock {
  #wall: number;
  #mono = 1000;

  constructor(wallMs = 1_700_000_000_000) {
    this.#wall = wallMs;
  }

  wallMs(): number {
    return this.#wall;
  }

  monoMs(): number {
    return this.#mono;
  }

  advance(ms: number): void {
    this.#wall += ms;
    this.#mono += ms;
  }

  /** As an operator or NTP does it: the monotonic clock does not notice. */
  stepWall(ms: number): void {
    this.#wall += ms;
  }
}
