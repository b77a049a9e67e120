import { SingleBar } from 'cli-progress';
import type { Clock } from '../../../kernel/base/clock.js';
import type { ProgressStream } from '../../progress-bar.js';

/** How far a plan of known length is: a bar with time left on a terminal, a line for each part elsewhere. */
export class PlanProgress {
  readonly #bar: SingleBar | undefined;
  readonly #begunMonoMs: number;
  #done = 0;

  /** `total` in seconds of load; starting and stopping brokers shows as a slower pace. */
  constructor(
    private readonly total: number,
    private readonly clock: Clock,
    private readonly stream: ProgressStream,
  ) {
    this.#begunMonoMs = clock.monoMs();
    if (stream.isTTY !== true) return;
    this.#bar = new SingleBar({
      format: '{part} [{bar}] {percentage} % | {live}{left}',
      stream,
      clearOnComplete: true,
      hideCursor: true,
      // It would take ^C for itself.
      gracefulExit: false,
    });
    this.#bar.start(total, 0, { part: 'starting', live: '', left: this.#left(0) });
  }

  /** `within`: seconds of the part that are over. */
  at(part: string, within: number, live: string): void {
    const done = Math.min(this.total, this.#done + within);
    this.#bar?.update(done, { part, live: live === '' ? '' : `${live} | `, left: this.#left(done) });
  }

  /** A part of so many seconds is over, with this result. */
  partDone(part: string, seconds: number, result: string): void {
    this.#done += seconds;
    this.at(part, 0, '');
    if (this.#bar === undefined) this.stream.write(`${part}: ${result}, ${this.#left(this.#done)}\n`);
  }

  end(): void {
    this.#bar?.stop();
  }

  #left(done: number): string {
    const elapsedSeconds = (this.clock.monoMs() - this.#begunMonoMs) / 1000;
    const left = done === 0 ? this.total : (elapsedSeconds / done) * (this.total - done);
    return left < 90 ? `${Math.ceil(left)} s left` : `${Math.ceil(left / 60)} min left`;
  }
}
