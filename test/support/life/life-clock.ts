import type { Clock } from '../../../kernel/base/clock.js';
import { FakeClock } from '../fake-clock.js';

/** Looks at the clock after which a wait counts as endless. */
const LOOKS_MAX = 400;
export const WAITS = 'the start waits for a disk that does not come back';
const HURRY_MS = 500;

/**
 * A clock for brokers that a test plays. Waits of the broker itself, which look at the clock again and again, come to an end: at a
 * start after so many looks, at a stop because each look lets time pass.
 */
export class LifeClock extends FakeClock {
  #mode: 'still' | 'starting' | 'stopping' = 'still';
  #looks = 0;
  #isOff: () => boolean = () => false;

  override monoMs(): number {
    if (this.#mode !== 'still' && this.#isOff()) throw new Error('the machine is off');
    if (this.#mode === 'starting' && ++this.#looks > LOOKS_MAX) throw new Error(WAITS);
    if (this.#mode === 'stopping') this.advance(HURRY_MS);
    return super.monoMs();
  }

  /** The same time for the services, whose looks do not count. */
  readonly quiet: Clock = { wallMs: () => this.wallMs(), monoMs: () => super.monoMs() };

  async during<T>(mode: 'starting' | 'stopping', isOff: () => boolean, wait: () => Promise<T>): Promise<T> {
    this.#mode = mode;
    this.#isOff = isOff;
    this.#looks = 0;
    try {
      return await wait();
    } finally {
      this.#mode = 'still';
    }
  }
}
