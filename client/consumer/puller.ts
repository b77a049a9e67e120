import { messageOf } from '../../kernel/base/errors.js';
import type { SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { PullSysFlag, RequestCode, ResponseCode } from '../../protocol/codes.js';
import {
  decodePullMessageResponse,
  encodePullMessage,
  type PullMessageResponseHeader,
} from '../../protocol/headers/pull-message.js';
import { decodeRecords } from '../../protocol/message/record.js';
import { ClientError } from '../errors.js';
import { received, type Received } from '../received.js';
import type { Answer } from '../transport/channel.js';
import type { ClientCore } from '../transport/client-core.js';
import { MASTER_ID, queueKey } from '../transport/message-queue.js';
import type { ConsumeStats } from './consume-stats.js';
import type { Consumption } from './listener.js';
import type { OffsetStore } from './offset-store.js';
import { pause } from './pause.js';
import type { ProcessQueue } from './process-queue.js';
import { takesTag } from './subscription.js';

export interface PullerOptions {
  readonly group: string;
  /** Messages asked for at once; brokers give no more than 32 by default. */
  readonly pullMax: number;
  /** Flow control per queue. */
  readonly heldMessagesMax: number;
  readonly heldBytesMax: number;
  readonly heldSpanMax: number;
  /** How long a broker holds a pull that finds nothing. */
  readonly suspendMs: number;
  readonly pullTimeoutMs: number;
  /** Wait after a failed pull. */
  readonly errorMs: number;
  /** Wait when flow control holds a queue. */
  readonly flowMs: number;
}

export interface PullerParts {
  readonly core: ClientCore;
  readonly offsets: OffsetStore;
  readonly dispatcher: Consumption;
  readonly stats: ConsumeStats;
  readonly signal: AbortSignal;
  readonly subscription: (topic: string) => SubscriptionData | undefined;
  readonly paused: () => boolean;
  /** Called with a queue whose offset does not exist on the broker, and the nearest that does. */
  readonly offsetMoved: (process: ProcessQueue, offset: number) => Promise<void>;
}

const PULL_CODES = [
  ResponseCode.SUCCESS,
  ResponseCode.PULL_NOT_FOUND,
  ResponseCode.PULL_RETRY_IMMEDIATELY,
  ResponseCode.PULL_OFFSET_MOVED,
];
/** The broker lost what the last heartbeat told it, or has not heard the latest yet. */
const SUBSCRIPTION_CODES: readonly number[] = [
  ResponseCode.SUBSCRIPTION_NOT_EXIST,
  ResponseCode.SUBSCRIPTION_NOT_LATEST,
  ResponseCode.FILTER_DATA_NOT_EXIST,
  ResponseCode.FILTER_DATA_NOT_LATEST,
];
/** 4.9: PULL_TIME_DELAY_MILLS_WHEN_BROKER_FLOW_CONTROL. */
const BROKER_FLOW_MS = 20;
/** The broker was told again: it should know now. */
const HEARD_MS = 500;
const PAUSED_MS = 1000;

/** Pulls each assigned queue in a loop of its own, as fast as its messages are consumed. 4.9: DefaultMQPushConsumerImpl#pullMessage. */
export class Puller {
  readonly #options: PullerOptions;
  readonly #parts: PullerParts;
  /** Which member of a broker group the broker itself suggested for a queue. */
  readonly #suggested = new Map<string, number>();

  constructor(options: PullerOptions, parts: PullerParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Runs until the queue is dropped or the consumer stops. Never rejects. */
  async run(process: ProcessQueue): Promise<void> {
    const { signal, core } = this.#parts;
    while (!process.dropped && !signal.aborted) {
      const waitMs = this.#holdMs(process);
      process.lastPullMs = core.clock.monoMs();
      if (waitMs > 0) {
        await pause(waitMs, signal);
        continue;
      }
      try {
        await this.#pullOnce(process);
      } catch (error) {
        if (process.dropped || signal.aborted) break;
        await pause(await this.#afterFailure(process, error), signal);
      }
    }
    this.#suggested.delete(queueKey(process.queue));
  }

  /** Milliseconds to wait because enough is held, or 0. */
  #holdMs(process: ProcessQueue): number {
    const { heldMessagesMax, heldBytesMax, heldSpanMax, flowMs } = this.#options;
    if (this.#parts.paused()) return PAUSED_MS;
    const held = process.count > heldMessagesMax || process.bytes > heldBytesMax || process.span > heldSpanMax;
    return held ? flowMs : 0;
  }

  async #pullOnce(process: ProcessQueue): Promise<void> {
    const subscription = this.#parts.subscription(process.queue.topic);
    if (subscription === undefined) throw new Error(`no subscription for topic ${process.queue.topic}`);
    const beganMs = this.#parts.core.clock.monoMs();
    const answer = await this.#ask(process, subscription);
    if (process.dropped) return;
    const header = decodePullMessageResponse(answer.ext);
    this.#suggested.set(queueKey(process.queue), header.suggestWhichBrokerId);
    if (answer.code === ResponseCode.PULL_OFFSET_MOVED) return this.#parts.offsetMoved(process, header.nextBeginOffset);
    const messages = answer.code === ResponseCode.SUCCESS ? this.#messages(process, answer, subscription) : [];
    this.#parts.stats.of(process.queue.topic).pulled(messages.length, this.#parts.core.clock.monoMs() - beganMs);
    this.#take(process, messages, header);
  }

  #take(process: ProcessQueue, messages: readonly Received[], header: PullMessageResponseHeader): void {
    process.nextOffset = header.nextBeginOffset;
    const added = process.put(messages);
    if (added.length > 0) this.#parts.dispatcher.submit(process, added);
    // Nothing held: what the broker passed over (other tags, deleted messages) counts as consumed.
    else if (process.count === 0) this.#parts.offsets.update(process.queue, process.nextOffset, true);
  }

  #messages(process: ProcessQueue, answer: Answer, subscription: SubscriptionData): Received[] {
    return decodeRecords(answer.body)
      .map((stored) => received(stored, process.queue.brokerName))
      .filter((one) => takesTag(subscription, one.message.tag));
  }

  async #ask(process: ProcessQueue, subscription: SubscriptionData): Promise<Answer> {
    const { core } = this.#parts;
    const { topic, brokerName, queueId } = process.queue;
    const wanted = this.#suggested.get(queueKey(process.queue)) ?? MASTER_ID;
    const broker = await core.routes.findBroker(topic, brokerName, wanted, false);
    const ext = encodePullMessage({
      consumerGroup: this.#options.group,
      topic,
      queueId,
      queueOffset: process.nextOffset,
      maxMsgNums: this.#options.pullMax,
      // Offsets go by UPDATE_CONSUMER_OFFSET alone: a broker serves pulls on other threads, so that an offset carried by a
      // pull may arrive after a later one, and would be the last word when this consumer leaves.
      sysFlag: PullSysFlag.SUSPEND,
      commitOffset: 0,
      suspendTimeoutMillis: this.#options.suspendMs,
      subVersion: subscription.subVersion,
      expressionType: subscription.expressionType,
      bname: brokerName,
    });
    const call = { code: RequestCode.PULL_MESSAGE, ext };
    return core.transport.request(broker.address, call, this.#options.pullTimeoutMs, PULL_CODES);
  }

  /** What to wait before the next try. */
  async #afterFailure(process: ProcessQueue, error: unknown): Promise<number> {
    const code = error instanceof ClientError ? error.responseCode : undefined;
    if (code === ResponseCode.FLOW_CONTROL) return BROKER_FLOW_MS;
    this.#parts.core.logger.warn({ queue: process.queue, problem: messageOf(error) }, 'pull failed');
    // A member that is gone must not be asked for ever because it was once suggested.
    this.#suggested.delete(queueKey(process.queue));
    if (code === undefined || !SUBSCRIPTION_CODES.includes(code)) return this.#options.errorMs;
    await this.#parts.core.heartbeat();
    return Math.min(HEARD_MS, this.#options.errorMs);
  }
}
