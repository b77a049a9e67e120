import type { BellAddress } from '../threads/contract.js';

/**
 * Wait and wake, in one place. A bell is two shared words: how often it rang, and whether its owner sleeps. Whoever published
 * something rings; the ring costs one load while the owner is awake.
 *
 * No wake-up is lost: the owner first says that it sleeps and then looks once more for work (`recheck`); the ringer publishes
 * first and then looks whether the owner sleeps. One of the two sees the other. Every sleep has a ceiling all the same.
 */
export class Doorbell {
  static readonly wordsPerBell = 2;

  static at(address: BellAddress): Doorbell {
    return new Doorbell(address.words, address.index);
  }

  readonly #words: Int32Array;
  readonly #rings: number;
  readonly #sleeps: number;

  /** `words` lies on a SharedArrayBuffer; bell number `index` owns two words of it. */
  constructor(words: Int32Array, index: number) {
    this.#words = words;
    this.#rings = index * Doorbell.wordsPerBell;
    this.#sleeps = this.#rings + 1;
  }

  /** How often it woke its owner, modulo 2^32: rings while the owner is awake do not count. */
  get rings(): number {
    return Atomics.load(this.#words, this.#rings) >>> 0;
  }

  /** Any thread, after publishing. */
  ring(): void {
    if (Atomics.load(this.#words, this.#sleeps) === 0) return;
    // The first ringer wakes the owner; the others need not, until it says again that it sleeps.
    if (Atomics.exchange(this.#words, this.#sleeps, 0) === 0) return;
    Atomics.add(this.#words, this.#rings, 1);
    Atomics.notify(this.#words, this.#rings);
  }

  /** Owner only: blocks the thread until rung, at most `ceilingMs`; returns at once when `recheck` finds work. */
  sleep(ceilingMs: number, recheck: () => boolean): void {
    const seen = Atomics.load(this.#words, this.#rings);
    Atomics.store(this.#words, this.#sleeps, 1);
    if (!recheck()) Atomics.wait(this.#words, this.#rings, seen, ceilingMs);
    Atomics.store(this.#words, this.#sleeps, 0);
  }

  /** Owner only: blocks the thread for `ms`, unheard: ringing costs nothing meanwhile. */
  rest(ms: number): void {
    Atomics.wait(this.#words, this.#rings, Atomics.load(this.#words, this.#rings), ms);
  }

  /** Owner only: as `sleep`, for a thread whose event loop must stay alive. A pending wait does not keep the process up. */
  async sleepAsync(ceilingMs: number, recheck: () => boolean): Promise<void> {
    const seen = Atomics.load(this.#words, this.#rings);
    Atomics.store(this.#words, this.#sleeps, 1);
    if (!recheck()) {
      const wait = Atomics.waitAsync(this.#words, this.#rings, seen, ceilingMs);
      if (wait.async) await wait.value;
    }
    Atomics.store(this.#words, this.#sleeps, 0);
  }
}
