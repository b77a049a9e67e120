import type { Clock } from './clock.js';
import type { Logger } from './logger.js';

/** Tells people how far a long step is. Calls are cheap and may come often. */
export interface Progress {
  /** `done` of `total` bytes of a step; the first call begins it. */
  report(step: string, done: number, total: number): void;
  /** The step is over, however it ended. */
  end(step: string): void;
}

const LINE_INTERVAL_MS = 1000;

/** At most one log line a second, none for what takes less. */
export class LoggedProgress implements Progress {
  #step = '';
  #toldMonoMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  report(step: string, done: number, total: number): void {
    const now = this.clock.monoMs();
    if (step !== this.#step) {
      this.#step = step;
      this.#toldMonoMs = now;
    }
    if (now - this.#toldMonoMs < LINE_INTERVAL_MS) return;
    this.#toldMonoMs = now;
    this.logger.info({ done, total, percent: Math.floor((done * 100) / Math.max(1, total)) }, step);
  }

  end(step: string): void {
    if (step === this.#step) this.#step = '';
  }
}
