import type { Clock } from '../../kernel/base/clock.js';

/** Rates are those of the last whole minute, taken in steps. */
const STEP_MS = 10_000;
const STEPS = 6;

interface Sums {
  pulls: number;
  pullMs: number;
  pulled: number;
  ok: number;
  failed: number;
  consumeMs: number;
}

const none = (): Sums => ({ pulls: 0, pullMs: 0, pulled: 0, ok: 0, failed: 0, consumeMs: 0 });

/** As `mqadmin consumerStatus` shows it; times in milliseconds, rates per second. 4.9: ConsumeStatus. */
export interface ConsumeStatus {
  readonly pullRT: number;
  readonly pullTPS: number;
  readonly consumeRT: number;
  readonly consumeOKTPS: number;
  readonly consumeFailedTPS: number;
  /** Failures since the start. */
  readonly consumeFailedMsgs: number;
}

/** What one topic's consumption did lately. */
export class TopicStats {
  readonly #clock: Clock;
  readonly #beganMs: number;
  readonly #total = none();
  /** Sums as they stood at the begin of the latest steps. */
  readonly #snapshots: { atMs: number; sums: Sums }[];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beganMs = clock.monoMs();
    this.#snapshots = [{ atMs: this.#beganMs, sums: none() }];
  }

  pulled(messages: number, tookMs: number): void {
    this.#step();
    this.#total.pulls++;
    this.#total.pullMs += tookMs;
    this.#total.pulled += messages;
  }

  consumed(messages: number, ok: boolean, tookMs: number): void {
    this.#step();
    this.#total.consumeMs += tookMs * messages;
    if (ok) this.#total.ok += messages;
    else this.#total.failed += messages;
  }

  status(): ConsumeStatus {
    this.#step();
    const oldest = this.#snapshots[0]!;
    const seconds = Math.max(1, (this.#clock.monoMs() - oldest.atMs) / 1000);
    const lately = (name: keyof Sums): number => this.#total[name] - oldest.sums[name];
    const consumed = lately('ok') + lately('failed');
    return {
      pullRT: lately('pulls') === 0 ? 0 : lately('pullMs') / lately('pulls'),
      pullTPS: lately('pulled') / seconds,
      consumeRT: consumed === 0 ? 0 : lately('consumeMs') / consumed,
      consumeOKTPS: lately('ok') / seconds,
      consumeFailedTPS: lately('failed') / seconds,
      consumeFailedMsgs: this.#total.failed,
    };
  }

  #step(): void {
    const nowMs = this.#clock.monoMs();
    if (nowMs - this.#snapshots.at(-1)!.atMs < STEP_MS) return;
    this.#snapshots.push({ atMs: nowMs, sums: { ...this.#total } });
    if (this.#snapshots.length > STEPS) this.#snapshots.shift();
  }
}

/** By topic; the number of topics is that of the subscriptions. */
export class ConsumeStats {
  readonly #topics = new Map<string, TopicStats>();

  constructor(private readonly clock: Clock) {}

  of(topic: string): TopicStats {
    let stats = this.#topics.get(topic);
    if (stats === undefined) {
      stats = new TopicStats(this.clock);
      this.#topics.set(topic, stats);
    }
    return stats;
  }
}
