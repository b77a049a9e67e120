import type { Clock } from '../../kernel/base/clock.js';
import { messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import type { ReceivedMessage } from '../message.js';
import type { MessageQueue } from '../transport/message-queue.js';
import type { ConsumeStats } from './consume-stats.js';
import type { Held, ProcessQueue } from './process-queue.js';

/** `success`: done. `later`: the whole batch is to be delivered again (broadcasting: it is dropped, unless it is ordered). */
export type ConsumeResult = 'success' | 'later';

export interface ConsumeContext {
  /** Where the batch came from; the group's retry topic for messages that come again. */
  readonly queue: MessageQueue;
  /**
   * What `later` waits: a delay level of the broker, 0 (default) lets the broker choose by the number of retries, below
   * 0 sends to the dead letters at once.
   */
  delayLevel: number;
  /** What `later` waits with ordered consumption: the queue rests so long, 10 ms to 30 s. Set to the consumer's own at each call. */
  suspendMs: number;
}

/** Gets messages to consume. A thrown error counts as `later`. */
export type Listener = (
  batch: readonly ReceivedMessage[],
  context: ConsumeContext,
) => ConsumeResult | Promise<ConsumeResult>;

/** A listener's answer that nobody waits for any more: neither done nor failed. */
export const ABANDONED = Symbol('abandoned');
export type InnerListener = (
  batch: readonly ReceivedMessage[],
  context: ConsumeContext,
) => ConsumeResult | typeof ABANDONED | Promise<ConsumeResult | typeof ABANDONED>;

/** What happens to pulled messages: several at a time in any order, or one after the other. */
export interface Consumption {
  /** There is more to consume of a queue. */
  submit(process: ProcessQueue, held: readonly Held[]): void;
  /** Begins nothing more; resolves when the running listeners answered or `timeoutMs` are over. */
  drain(timeoutMs: number): Promise<void>;
  /** Runs the listener once for one message, whatever its queue; for the broker's CONSUME_MESSAGE_DIRECTLY. */
  direct(message: ReceivedMessage, queue: MessageQueue): Promise<ConsumeResult | typeof ABANDONED>;
  /** Sends back messages at the head of a queue whose listener has not answered in time. */
  giveUpExpired(process: ProcessQueue): Promise<void>;
  /** Resolves when no listener runs any more whose result for a dropped queue still counts. */
  settled(process: ProcessQueue): Promise<void>;
}

/** Asks the listener about a batch; what it throws counts as `later`. */
export async function callListener(
  listener: InnerListener,
  group: string,
  parts: { readonly clock: Clock; readonly logger: Logger; readonly stats: ConsumeStats },
  process: ProcessQueue,
  held: readonly Held[],
  context: ConsumeContext,
): Promise<ConsumeResult | typeof ABANDONED> {
  const beganMs = parts.clock.monoMs();
  for (const one of held) one.startedMs = beganMs;
  let result: ConsumeResult | typeof ABANDONED;
  try {
    result = await listener(
      held.map(({ message, reconsumeTimes }) =>
        message.reconsumeTimes === reconsumeTimes ? message : { ...message, reconsumeTimes },
      ),
      context,
    );
  } catch (error) {
    const { topic, msgId } = held[0]!.message;
    parts.logger.warn({ group, topic, msgId, problem: messageOf(error) }, 'listener failed');
    result = 'later';
  }
  const tookMs = parts.clock.monoMs() - beganMs;
  process.lastConsumeMs = beganMs + tookMs;
  if (result !== ABANDONED) parts.stats.of(process.queue.topic).consumed(held.length, result === 'success', tookMs);
  return result;
}
