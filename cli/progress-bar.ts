import { SingleBar } from 'cli-progress';
import type { Clock } from '../kernel/base/clock.js';
import { LineProgress, type Progress } from '../kernel/base/progress.js';

const MIB = 1024 * 1024;
/** What takes less needs no bar. */
const PATIENCE_MS = 300;

/** Where a bar or lines go: `process.stderr`, whose output is no result. */
export type ProgressStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** A bar with rate and time left on a terminal. It goes when the step is over. */
export class BarProgress implements Progress {
  #step = '';
  #begunMonoMs = 0;
  #bar: SingleBar | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly stream: ProgressStream,
  ) {}

  report(step: string, done: number, total: number): void {
    const now = this.clock.monoMs();
    if (step !== this.#step) {
      this.end(this.#step);
      this.#step = step;
      this.#begunMonoMs = now;
    }
    const elapsedMs = now - this.#begunMonoMs;
    if (elapsedMs < PATIENCE_MS) return;
    const fields = { ...paceOf(done, total, elapsedMs), step };
    if (this.#bar === undefined) {
      this.#bar = new SingleBar({
        format: '{step} [{bar}] {percentage} % | {rate} MiB/s | {left} s left',
        stream: this.stream,
        clearOnComplete: true,
        hideCursor: true,
        // It would take ^C for itself.
        gracefulExit: false,
      });
      this.#bar.start(total, done, fields);
    } else {
      this.#bar.setTotal(total);
      this.#bar.update(done, fields);
    }
  }

  end(step: string): void {
    if (step !== this.#step) return;
    this.#step = '';
    this.#bar?.stop();
    this.#bar = undefined;
  }
}

/** Lines where there is no terminal. */
export class StreamProgress extends LineProgress {
  constructor(
    clock: Clock,
    private readonly stream: ProgressStream,
  ) {
    super(clock);
  }

  protected override tell(step: string, done: number, total: number, elapsedMs: number): void {
    const { rate, left } = paceOf(done, total, elapsedMs);
    const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
    this.stream.write(`${step}: ${mib(done)} of ${mib(total)} MiB, ${rate} MiB/s, ${left} s left\n`);
  }
}

function paceOf(done: number, total: number, elapsedMs: number): { readonly rate: string; readonly left: string } {
  const bytesPerMs = done / Math.max(1, elapsedMs);
  const left = bytesPerMs === 0 ? '?' : Math.ceil((total - done) / bytesPerMs / 1000).toFixed(0);
  return { rate: ((bytesPerMs * 1000) / MIB).toFixed(0), left };
}

/** For commands: a bar on a terminal, lines elsewhere. */
export function commandProgress(clock: Clock, stream: ProgressStream): Progress {
  return stream.isTTY === true ? new BarProgress(clock, stream) : new StreamProgress(clock, stream);
}
