import { Histogram, type Percentiles } from './histogram.js';

/** What a load has done since the last reset. Written by the lanes, read once a second and at the end. */
export class LoadCounters {
  messages = 0;
  bytes = 0;
  /** The measured time, when the load knows it better than its caller. */
  seconds: number | undefined;
  readonly latency = new Histogram();
  /** Answers by code that were not the wanted one. */
  readonly errors = new Map<number, number>();

  error(code: number): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }

  reset(): void {
    this.messages = 0;
    this.bytes = 0;
    this.seconds = undefined;
    this.latency.reset();
    this.errors.clear();
  }
}

/** What some loads know beside rate and latency. */
export interface LoadDetail {
  /** From the intended time of a send to its answer, in microseconds. */
  readonly sendLatencyMicros?: Percentiles;
  /** Share of the sends that left more than 1 ms after their intended time: the generator could not keep the rate. */
  readonly lateShare?: number;
  /** Messages that were acknowledged and not yet at the consumer, looked at every few milliseconds. */
  readonly behindMessages?: { readonly mean: number; readonly max: number };
  /** Messages that were acknowledged and never came to the consumer, of the whole run. */
  readonly missing?: number;
  /** Sends at a fixed rate that were never answered; they count with the time that they waited. */
  readonly unanswered?: number;
  /** Delayed messages that were delivered before their time, of those due in the measured time. */
  readonly early?: number;
  /** Delayed messages that were delivered more than once, of the whole run. */
  readonly repeated?: number;
  /** Messages that a filtered load passed over or took. */
  readonly scanned?: number;
  /** One-way messages given to the sockets over the whole run, and how many of them the broker stored in the end. */
  readonly oneWay?: { readonly written: number; readonly stored: number };
}

/** A load under way on one side. Its life: start, (warm-up,) begin, (measured time,) end, stop, detail. */
export interface Load {
  readonly counters: LoadCounters;
  /** How long it takes until first results can come; the warm-up is longer by so much. */
  readonly leadSeconds?: number;
  /** Resolves when there is nothing left to do, rejects when the load cannot go on. Most loads never resolve. */
  readonly finished: Promise<void>;
  start(): void;
  /** The measured time begins: what was counted so far is forgotten. */
  begin(): void | Promise<void>;
  /** The measured time is over: completes the counters. */
  end?(): void | Promise<void>;
  /** Sends no more and closes, after the answers in flight came or a second has passed. */
  stop(): Promise<void>;
  detail?(): LoadDetail;
}

export interface TopicQueue {
  readonly topic: string;
  readonly queueId: number;
}

/** One broker that takes part of the load. */
export interface BrokerTarget {
  readonly host: string;
  readonly port: number;
  readonly queues: readonly TopicQueue[];
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
