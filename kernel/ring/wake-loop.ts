import type { BellAddress } from '../threads/contract.js';
import { Doorbell } from './wait.js';

/** Pending waits do not hold the process; the ceiling bounds what a lost wake-up could cost. */
const CEILING_MS = 100;

/** The network thread's side of waiting: sleeps without blocking the event loop, runs its listeners when it is rung. */
export class WakeLoop {
  readonly address: BellAddress;
  readonly #bell: Doorbell;
  readonly #listeners: (() => void)[] = [];
  readonly #pending: (() => boolean)[] = [];
  #running: Promise<void> | undefined;
  #stopped = false;

  /** `onError` hears of a listener that throws, and the others run all the same; without it the process ends. */
  constructor(private readonly onError: (error: unknown) => void = uncaught) {
    const memory = new SharedArrayBuffer(Doorbell.wordsPerBell * Int32Array.BYTES_PER_ELEMENT);
    this.address = { words: new Int32Array(memory), index: 0 };
    this.#bell = Doorbell.at(this.address);
  }

  /** `listener` runs after every wake-up; `hasWork` is asked once more before each sleep. */
  add(listener: () => void, hasWork: () => boolean): void {
    this.#listeners.push(listener);
    this.#pending.push(hasWork);
  }

  /** How often a bell ended a sleep, modulo 2^32. */
  get wakeUps(): number {
    return this.#bell.rings;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#bell.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#bell.sleepAsync(CEILING_MS, () => this.#stopped || this.#pending.some((hasWork) => hasWork()));
      // A listener that fails may have left its work undone: without a rest it would be asked again for ever.
      if (!this.#listen()) await new Promise((resolve) => setTimeout(resolve, CEILING_MS));
    }
  }

  /** False when one of them failed. */
  #listen(): boolean {
    let well = true;
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        well = false;
        this.onError(error);
      }
    }
    return well;
  }
}

function uncaught(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
