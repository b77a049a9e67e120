import { Histogram } from './histogram.js';

/** What a load has done since the last reset. Written by the lanes, read once a second and at the end. */
export class LoadCounters {
  messages = 0;
  bytes = 0;
  readonly latency = new Histogram();
  /** Answers by code that were not the wanted one. */
  readonly errors = new Map<number, number>();

  error(code: number): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }

  reset(): void {
    this.messages = 0;
    this.bytes = 0;
    this.latency.reset();
    this.errors.clear();
  }
}

/** A load under way on one side. */
export interface Load {
  readonly counters: LoadCounters;
  /** Resolves when there is nothing left to do, rejects when the load cannot go on. Most loads never resolve. */
  readonly finished: Promise<void>;
  start(): void;
  /** Sends no more and closes, after the answers in flight came or a second has passed. */
  stop(): Promise<void>;
}

/** One broker that takes part of the load. */
export interface BrokerTarget {
  readonly host: string;
  readonly port: number;
  readonly queueIds: readonly number[];
}

/** `finished` of a load: settled at most once, and a late failure after the end harms nobody. */
export class Finish {
  readonly promise: Promise<void>;
  #resolve!: () => void;
  #reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.promise.catch(() => undefined);
  }

  done(): void {
    this.#resolve();
  }

  failed(error: Error): void {
    this.#reject(error);
  }
}
