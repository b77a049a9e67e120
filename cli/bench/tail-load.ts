import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/base/clock.js';
import type { SendContext } from './frame-writer.js';
import { Histogram } from './histogram.js';
import { Finish, LoadCounters, type BrokerTarget, type Load, type LoadDetail, type TopicQueue } from './load.js';
import { opened } from './opened.js';
import { PacedSender } from './paced-sender.js';
import { bodyLengthAt, type PullShape, type TakeRecord } from './pull-frames.js';
import { PullLane, type PullContext } from './pull-lane.js';
import { SendLoad, type SendCounts, type SendSettings } from './send-load.js';
import { sharesOf } from './shares.js';
import { settled } from './settled.js';

export interface TailSettings extends SendSettings {
  /** Messages per second at intended times; 0: as fast as answers come, with `window` in flight on each connection. */
  readonly perSecond: number;
  readonly pull: PullShape;
  /** Where each queue ends before the load. */
  readonly ends: (target: BrokerTarget, queue: TopicQueue) => number;
}

/** Every body begins with a mark of this run (8 bytes) and the time at which it was meant to leave. */
export const STAMP_BYTES = 16;
const SAMPLE_MS = 5;
const DRAIN_MS = 5000;

/**
 * Sends, and reads the tail of all queues with pulls that the broker holds until something comes. A message's latency counts from the
 * time at which it was meant to leave to the moment at which its record is here.
 */
export class TailLoad implements Load {
  readonly counters = new LoadCounters();
  readonly #settings: TailSettings;
  readonly #clock: Clock;
  readonly #finish = new Finish();
  readonly #mark = randomBytes(8);
  /** Of the whole run, but for the latency. */
  readonly #acknowledged = { latency: new Histogram(), messages: 0, bytes: 0 } satisfies SendCounts;
  #received = 0;
  #sinceMs = 0;
  readonly #behind = { samples: 0, sum: 0, max: 0 };
  readonly #readers: PullLane[] = [];
  #sender: PacedSender | SendLoad | undefined;
  #sampler: NodeJS.Timeout | undefined;

  private constructor(settings: TailSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  static open(settings: TailSettings, clock: Clock): Promise<TailLoad> {
    const load = new TailLoad(settings, clock);
    return opened(load, async () => {
      await load.#openReaders();
      const context = load.#sendContext();
      load.#sender =
        settings.perSecond > 0
          ? await PacedSender.open(settings, context, load.#acknowledged, settings.perSecond)
          : await SendLoad.openWith(settings, context, load.#acknowledged);
    });
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  start(): void {
    for (const reader of this.#readers) reader.fill();
    this.#sender?.start();
    this.#sampler = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  begin(): void {
    this.#sinceMs = this.#clock.monoMs();
    this.counters.reset();
    this.#acknowledged.latency.reset();
    if (this.#sender instanceof PacedSender) this.#sender.begin();
    Object.assign(this.#behind, { samples: 0, sum: 0, max: 0 });
  }

  /** What was sent in the measured time counts however late it comes: the slowest messages are those that come last. */
  async end(): Promise<void> {
    clearInterval(this.#sampler);
    const { messages, bytes } = this.counters;
    if (this.#sender instanceof PacedSender) await this.#sender.end();
    else await this.#sender?.drain();
    await settled(() => this.#received >= this.#acknowledged.messages, DRAIN_MS);
    Object.assign(this.counters, { messages, bytes });
  }

  async stop(): Promise<void> {
    clearInterval(this.#sampler);
    await this.#sender?.stop();
    for (const reader of this.#readers) reader.stopSending();
    for (const reader of this.#readers) reader.close();
  }

  detail(): LoadDetail {
    const { samples, sum, max } = this.#behind;
    const sender = this.#sender;
    return {
      sendLatencyMicros: this.#acknowledged.latency.percentiles(),
      behindMessages: { mean: samples === 0 ? 0 : sum / samples, max },
      missing: Math.max(0, this.#acknowledged.messages - this.#received),
      ...(sender instanceof PacedSender ? { lateShare: sender.lateShare, unanswered: sender.unanswered } : {}),
    };
  }

  #sendContext(): SendContext {
    const mark = this.#mark;
    return {
      shape: this.#settings.shape,
      clock: this.#clock,
      counters: this.counters,
      finish: this.#finish,
      stamp: (block, bodyAt, intendedMs) => {
        block.set(mark, bodyAt);
        block.writeDoubleBE(intendedMs, bodyAt + 8);
      },
    };
  }

  /** One connection to each broker, with all its queues. */
  async #openReaders(): Promise<void> {
    const { pull, targets, ends } = this.#settings;
    const context: PullContext = {
      shape: pull,
      window: Infinity,
      atEnd: 'wait',
      clock: this.#clock,
      counters: this.counters,
      finish: this.#finish,
      scanned: 0,
      take: this.#taker(),
      laneDone: () => undefined,
    };
    for (const { target, queues } of sharesOf(targets, targets.length)) {
      const reader = new PullLane(context, queues, (queue) => ends(target, queue));
      this.#readers.push(reader);
      await reader.connect(target);
    }
  }

  #taker(): TakeRecord {
    const [first, second] = [this.#mark.readInt32BE(0), this.#mark.readInt32BE(4)];
    const { bodyBytes } = this.#settings.shape;
    return (buffer, at) => {
      const bodyAt = bodyLengthAt(buffer, at) + 4;
      // A message of somebody else.
      if (buffer.readInt32BE(bodyAt - 4) !== bodyBytes) return;
      if (buffer.readInt32BE(bodyAt) !== first || buffer.readInt32BE(bodyAt + 4) !== second) return;
      this.#received++;
      const intendedMs = buffer.readDoubleBE(bodyAt + 8);
      if (intendedMs < this.#sinceMs) return;
      this.counters.messages++;
      this.counters.bytes += bodyBytes;
      this.counters.latency.record((this.#clock.monoMs() - intendedMs) * 1000);
    };
  }

  #sample(): void {
    // A record may be here before its answer.
    const behind = Math.max(0, this.#acknowledged.messages - this.#received);
    this.#behind.samples++;
    this.#behind.sum += behind;
    this.#behind.max = Math.max(this.#behind.max, behind);
  }
}
