import type { Clock } from '../../kernel/base/clock.js';
import { Fault, Watermark, type Watermarks } from '../../kernel/ring/watermarks.js';
import type { PendingAppend } from './contract.js';
import { Fifo } from '../../kernel/base/fifo.js';

interface Waiting {
  readonly pending: PendingAppend;
  /** Physical end of the unit: settled when `flushed` has reached it. */
  readonly end: number;
  readonly deadlineMonoMs: number;
}

export interface SettlementRules {
  /** SYNC_FLUSH. */
  readonly untilFlushed: boolean;
  /** syncFlushTimeout in ms. */
  readonly flushTimeoutMs: number;
}

/** Appended units that wait for more than `appended`: a list per cursor, in order of the log, walked up to the cursor. */
export class Settlement {
  readonly #flushing = new Fifo<Waiting>();

  constructor(
    private readonly rules: SettlementRules,
    private readonly watermarks: Watermarks,
    private readonly clock: Clock,
  ) {}

  get waiting(): number {
    return this.#flushing.size;
  }

  /** The unit is appended: settles it, or lets it wait for what the flush mode asks. */
  appended(pending: PendingAppend, end: number): void {
    const waits = pending.waitStore && this.rules.untilFlushed && this.watermarks.get(Watermark.flushed) < end;
    if (waits) this.#flushing.push({ pending, end, deadlineMonoMs: this.clock.monoMs() + this.rules.flushTimeoutMs });
    else pending.settle('stored', '');
  }

  /** Walks the list up to the cursor; then those that waited too long. */
  walk(): void {
    if (this.#flushing.size === 0) return;
    const flushed = this.watermarks.get(Watermark.flushed);
    const failed = this.watermarks.raised(Fault.flush);
    const now = this.clock.monoMs();
    for (let head = this.#flushing.peek(); head !== undefined; head = this.#flushing.peek()) {
      if (head.end <= flushed) head.pending.settle('stored', '');
      else if (failed) head.pending.settle('flushFailed', 'the sync of the commit log failed');
      else if (head.deadlineMonoMs <= now) head.pending.settle('flushTimeout', 'not synced within syncFlushTimeout');
      else return;
      this.#flushing.shift();
    }
  }

  /** True when `walk` would settle something. */
  ready(): boolean {
    const head = this.#flushing.peek();
    return (
      head !== undefined && (head.end <= this.watermarks.get(Watermark.flushed) || this.watermarks.raised(Fault.flush))
    );
  }
}
