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

/** Tells at most once a second, and nothing of what takes less. */
export abstract class LineProgress implements Progress {
  #step = '';
  #begunMonoMs = 0;
  #toldMonoMs = 0;

  constructor(private readonly clock: Clock) {}

  protected abstract tell(step: string, done: number, total: number, elapsedMs: number): void;

  report(step: string, done: number, total: number): void {
    const now = this.clock.monoMs();
    if (step !== this.#step) {
      this.#step = step;
      this.#begunMonoMs = this.#toldMonoMs = now;
    }
    if (now - this.#toldMonoMs < LINE_INTERVAL_MS) return;
    this.#toldMonoMs = now;
    this.tell(step, done, total, now - this.#begunMonoMs);
  }

  end(step: string): void {
    if (step === this.#step) this.#step = '';
  }
}

/** Lines of the log. */
export class LoggedProgress extends LineProgress {
  constructor(
    clock: Clock,
    private readonly logger: Logger,
  ) {
    super(clock);
  }

  protected override tell(step: string, done: number, total: number): void {
    this.logger.info({ done, total, percent: Math.floor((done * 100) / Math.max(1, total)) }, step);
  }
}
