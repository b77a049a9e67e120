import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/base/clock.js';
import type { SendContext } from './frame-writer.js';
import { Histogram } from './histogram.js';
import { Lateness } from './lateness.js';
import { Finish, LoadCounters, type BrokerTarget, type Load, type LoadDetail, type TopicQueue } from './load.js';
import { opened } from './opened.js';
import { PacedSender } from './paced-sender.js';
import { bodyLengthAt, storeTimeIn, type PullShape } from './pull-frames.js';
import { PullLane, type PullContext } from './pull-lane.js';
import type { SendCounts, SendSettings } from './send-load.js';
import type { DelayShape } from './send-frames.js';
import { settled } from './settled.js';

export interface DelaySettings extends SendSettings {
  readonly perSecond: number;
  readonly delay: DelayShape;
  readonly pull: PullShape;
  /** Where each queue ends before the load; that of the level in the schedule topic, too. */
  readonly ends: (target: BrokerTarget, queue: TopicQueue) => number;
}

/** Every body begins with a mark of this run (8 bytes) and the message's number. */
const NUMBER_AT = 8;
/** Deliveries take time to come about once they are due; before that there is no steady state. */
const SETTLE_MS = 500;
/** How much later than due messages may still come. */
const DRAIN_MS = 20_000;

/** Where delayed messages of a level wait. */
export const levelQueue = (level: number): TopicQueue => ({ topic: 'SCHEDULE_TOPIC_XXXX', queueId: level - 1 });

/** When there are as many deliveries as sends. */
export const leadSecondsOf = ({ aheadMs, spreadMs = 0 }: DelayShape): number => (aheadMs + spreadMs + SETTLE_MS) / 1000;

/**
 * Delayed messages at a fixed rate, which fall due at that rate: so many are pending as are sent within the delay. How late a message
 * is: the store time of the record that its consumer gets, less the time at which it was due, both as the broker wrote them. With a
 * level that is the store time of the record in the schedule topic and the level's delay, which is read when the load is over.
 */
export class DelayLoad implements Load {
  readonly counters = new LoadCounters();
  readonly #settings: DelaySettings;
  readonly #clock: Clock;
  readonly #finish = new Finish();
  readonly #mark = randomBytes(8);
  readonly #lateness = new Lateness();
  /** Of the whole run, but for the latency. */
  readonly #acknowledged = { latency: new Histogram(), messages: 0, bytes: 0 } satisfies SendCounts;
  readonly #readers: PullLane[] = [];
  #sent = 0;
  #fromWallMs = 0;
  #early = 0;
  #sender: PacedSender | undefined;

  private constructor(settings: DelaySettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  static open(settings: DelaySettings, clock: Clock): Promise<DelayLoad> {
    const load = new DelayLoad(settings, clock);
    return opened(load, async () => {
      for (const target of settings.targets)
        await load.#reader(target, target.queues, 'wait', (number, buffer, at) => {
          load.counters.messages++;
          load.counters.bytes += settings.shape.bodyBytes;
          load.#lateness.stored(number, storeTimeIn(buffer, at));
        });
      load.#sender = await PacedSender.open(settings, load.#sendContext(), load.#acknowledged, settings.perSecond);
    });
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  get leadSeconds(): number {
    return leadSecondsOf(this.#settings.delay);
  }

  start(): void {
    for (const reader of this.#readers) reader.fill();
    this.#sender?.start();
  }

  begin(): void {
    this.#fromWallMs = this.#clock.wallMs();
    this.counters.reset();
    this.#acknowledged.latency.reset();
    this.#sender?.begin();
  }

  /** What was due in the measured time counts however late it comes. */
  async end(): Promise<void> {
    const toWallMs = this.#clock.wallMs();
    const { messages, bytes } = this.counters;
    await this.#sender?.end();
    const { delay } = this.#settings;
    const longestMs = this.leadSeconds * 1000 + DRAIN_MS;
    await settled(() => this.#lateness.delivered >= this.#acknowledged.messages, longestMs);
    if (delay.level !== undefined) await this.#readSchedule(delay.level, delay.aheadMs);
    this.#early = this.#lateness.record(this.counters.latency, this.#fromWallMs, toWallMs);
    Object.assign(this.counters, { messages, bytes });
  }

  async stop(): Promise<void> {
    this.#sender?.stop();
    for (const reader of this.#readers) reader.stopSending();
    for (const reader of this.#readers) reader.close();
    return Promise.resolve();
  }

  detail(): LoadDetail {
    const sender = this.#sender!;
    return {
      sendLatencyMicros: this.#acknowledged.latency.percentiles(),
      unanswered: sender.unanswered,
      missing: Math.max(0, this.#acknowledged.messages - this.#lateness.delivered),
      early: this.#early,
      repeated: this.#lateness.repeated,
    };
  }

  #sendContext(): SendContext {
    const { shape, delay } = this.#settings;
    return {
      shape: { ...shape, delay },
      clock: this.#clock,
      counters: this.counters,
      finish: this.#finish,
      stamp: (block, bodyAt, _intendedMs, dueMs) => {
        const number = this.#sent++;
        block.set(this.#mark, bodyAt);
        block.writeDoubleBE(number, bodyAt + NUMBER_AT);
        if (dueMs > 0) this.#lateness.due(number, dueMs);
      },
    };
  }

  /** When the messages of this run were stored in the queue of their level. */
  async #readSchedule(level: number, levelMs: number): Promise<void> {
    let found = 0;
    for (const target of this.#settings.targets) {
      const reader = await this.#reader(target, [levelQueue(level)], 'finish', (number, buffer, at) => {
        found++;
        this.#lateness.due(number, storeTimeIn(buffer, at) + levelMs);
      });
      reader.fill();
      await settled(() => reader.done, DRAIN_MS);
    }
    if (found < this.#acknowledged.messages)
      throw new Error(
        `${found} of ${this.#acknowledged.messages} delayed messages were in the queue of level ${level}: does the broker have this level?`,
      );
  }

  /** One connection that reads these queues from where they ended before the load; `take` gets the messages of this run. */
  async #reader(
    target: BrokerTarget,
    queues: readonly TopicQueue[],
    atEnd: 'wait' | 'finish',
    take: (number: number, buffer: Buffer, at: number) => void,
  ): Promise<PullLane> {
    const { pull, ends, shape } = this.#settings;
    const [first, second] = [this.#mark.readInt32BE(0), this.#mark.readInt32BE(4)];
    const context: PullContext = {
      shape: atEnd === 'wait' ? pull : { ...pull, suspendMs: 0 },
      window: Infinity,
      atEnd,
      clock: this.#clock,
      counters: this.counters,
      finish: this.#finish,
      scanned: 0,
      take: (buffer, at) => {
        const bodyAt = bodyLengthAt(buffer, at) + 4;
        if (buffer.readInt32BE(bodyAt - 4) !== shape.bodyBytes) return;
        if (buffer.readInt32BE(bodyAt) !== first || buffer.readInt32BE(bodyAt + 4) !== second) return;
        take(buffer.readDoubleBE(bodyAt + NUMBER_AT), buffer, at);
      },
      laneDone: () => undefined,
    };
    const reader = new PullLane(context, queues, (queue) => ends(target, queue));
    this.#readers.push(reader);
    await reader.connect(target);
    return reader;
  }
}
