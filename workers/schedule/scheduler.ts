import { Watermark, type Watermarks } from '../../kernel/ring/watermarks.js';
import type { Service, ServiceContext } from '../../kernel/threads/service.js';
import type { QueueFiles } from '../../store/consumequeue/queue-files.js';
import type { Segments } from '../../store/commitlog/segments.js';
import type { ScheduleCalls } from './contract.js';
import type { Delivery } from './delivery.js';
import type { Mover } from './mover.js';
import { RETRY_MS, type Source } from './source.js';
import type { Timers } from './timers.js';

export interface SchedulerParts {
  readonly watermarks: Watermarks;
  readonly segments: Segments;
  readonly queues: QueueFiles;
  readonly sources: readonly Source[];
  readonly timers: Timers;
  readonly delivery: Delivery;
  readonly mover: Mover;
}

/** Asks each source what is due, and sleeps until the next is. */
export class Scheduler implements Service {
  readonly calls: ScheduleCalls = {
    takeWantedRows: () => this.parts.delivery.takeWantedRows(),
    open: () => {
      this.#open = true;
    },
    pause: () => this.#pause(),
    restoreTimers: (snapshot) => this.parts.timers.restore(snapshot),
    timers: () => this.parts.timers.snapshot(),
    moveBelow: (offset) => this.parts.mover.start(offset),
  };
  /** A due message may come as late as dispatching, which rests a millisecond at most, on a thread that they share. */
  readonly restMs = Infinity;
  #open = false;
  /** The source that is asked first: the one behind that which took the last room. */
  #first = 0;
  readonly #paused: (() => void)[] = [];

  constructor(
    readonly parts: SchedulerParts,
    private readonly context: ServiceContext,
  ) {}

  step(): number {
    const { watermarks, segments, delivery } = this.parts;
    segments.forgetBelow(watermarks.get(Watermark.logMin));
    if (!delivery.begin()) return Infinity;
    if (delivery.inFlight === 0) for (const resolve of this.#paused.splice(0)) resolve();
    const waitMs = this.#open ? this.#deliver() : Infinity;
    this.parts.mover.look();
    return waitMs;
  }

  close(): void {
    this.parts.segments.close();
    this.parts.queues.close();
  }

  #deliver(): number {
    const { sources, delivery, mover } = this.parts;
    // Room is what a move is to make.
    if (this.parts.watermarks.isHeldBack && !mover.isActive) return RETRY_MS;
    const nowMs = this.context.clock.wallMs();
    let waitMs = Infinity;
    let next: number | undefined;
    for (let i = 0; i < sources.length && !delivery.isFull; i++) {
      const at = (this.#first + i) % sources.length;
      waitMs = Math.min(waitMs, sources[at].due(nowMs, delivery.hands[at]));
      if (delivery.isFull || delivery.isBlocked) next ??= at + 1;
    }
    this.#first = (next ?? this.#first) % sources.length;
    delivery.publish();
    if (delivery.isFull) return 0;
    return delivery.isBlocked ? Math.min(waitMs, RETRY_MS) : waitMs;
  }

  #pause(): Promise<void> {
    this.#open = false;
    this.parts.mover.stop();
    return new Promise((resolve) => this.#paused.push(resolve));
  }
}
