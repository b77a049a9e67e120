import type { Clock } from '../../kernel/base/clock.js';
import { messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import type { ReceivedMessage } from '../message.js';
import type { MessageQueue } from '../transport/message-queue.js';
import type { ConsumeStats } from './consume-stats.js';
import {
  ABANDONED,
  callListener,
  type ConsumeContext,
  type ConsumeResult,
  type Consumption,
  type InnerListener,
} from './listener.js';
import type { OffsetStore } from './offset-store.js';
import { pause } from './pause.js';
import type { Held, ProcessQueue } from './process-queue.js';
import type { SendBack } from './send-back.js';

export interface DispatcherOptions {
  readonly group: string;
  readonly broadcasting: boolean;
  readonly concurrency: number;
  readonly batchMax: number;
  /** A listener that takes longer is given up: its messages go back to the broker. */
  readonly consumeTimeoutMs: number;
  /** Wait before a message that could not be sent back is consumed again here. */
  readonly localRetryMs: number;
}

export interface DispatcherParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly offsets: OffsetStore;
  readonly sendBack: SendBack;
  readonly stats: ConsumeStats;
  readonly signal: AbortSignal;
}

interface Batch {
  readonly process: ProcessQueue;
  readonly held: readonly Held[];
}

/** The level at which a message goes back whose listener took too long. 4.9: ProcessQueue#cleanExpiredMsg. */
const EXPIRED_DELAY_LEVEL = 3;
/** Batches already taken are cut off the list in steps of so many. */
const COMPACT_AT = 1024;

/** Hands pulled messages to the listener, several at a time, and acts on its answer. 4.9: ConsumeMessageConcurrentlyService. */
export class Dispatcher implements Consumption {
  readonly #listener: InnerListener;
  readonly #options: DispatcherOptions;
  readonly #parts: DispatcherParts;
  /** Bounded by the flow control of the process queues. */
  #waiting: Batch[] = [];
  #next = 0;
  #running = 0;
  #idle: (() => void)[] = [];

  constructor(listener: InnerListener, options: DispatcherOptions, parts: DispatcherParts) {
    this.#listener = listener;
    this.#options = options;
    this.#parts = parts;
  }

  submit(process: ProcessQueue, held: readonly Held[]): void {
    if (this.#parts.signal.aborted) return;
    for (let at = 0; at < held.length; at += this.#options.batchMax)
      this.#waiting.push({ process, held: held.slice(at, at + this.#options.batchMax) });
    this.#fill();
  }

  /** Begins nothing more; resolves when the running listeners answered or `timeoutMs` are over. */
  async drain(timeoutMs: number): Promise<void> {
    this.#clear();
    if (this.#running === 0) return;
    const late = new AbortController();
    const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
    await Promise.race([idle, pause(timeoutMs, late.signal)]);
    late.abort();
  }

  /** Runs the listener once for one message, whatever its queue; for the broker's CONSUME_MESSAGE_DIRECTLY. */
  async direct(message: ReceivedMessage, queue: MessageQueue): Promise<ConsumeResult | typeof ABANDONED> {
    return this.#listener([message], { queue, delayLevel: 0, suspendMs: 0 });
  }

  /** Results for a queue that was given up do not count here: nothing waits for them. */
  settled(): Promise<void> {
    return Promise.resolve();
  }

  /** Sends back messages at the head of a queue whose listener has not answered in time. */
  async giveUpExpired(process: ProcessQueue): Promise<void> {
    for (let held = process.first; held !== undefined && !process.dropped; held = process.first) {
      const waitedMs = this.#parts.clock.monoMs() - held.startedMs;
      if (held.startedMs === 0 || waitedMs < this.#options.consumeTimeoutMs || this.#options.broadcasting) return;
      const { topic, msgId } = held.message;
      this.#parts.logger.warn(
        { group: this.#options.group, topic, msgId, waitedMs },
        'listener took too long, given up',
      );
      await this.#parts.sendBack.send(held, EXPIRED_DELAY_LEVEL);
      this.#finish(process, [held]);
    }
  }

  #fill(): void {
    while (this.#running < this.#options.concurrency) {
      const batch = this.#waiting[this.#next];
      if (batch === undefined) return this.#clear();
      if (++this.#next === COMPACT_AT) {
        this.#waiting = this.#waiting.slice(this.#next);
        this.#next = 0;
      }
      if (!batch.process.dropped) void this.#run(batch);
    }
  }

  #clear(): void {
    this.#waiting = [];
    this.#next = 0;
  }

  async #run(batch: Batch): Promise<void> {
    this.#running++;
    try {
      await this.#consume(batch);
    } catch (error) {
      this.#parts.logger.error({ group: this.#options.group, problem: messageOf(error) }, 'consumption failed');
    } finally {
      this.#running--;
      if (this.#parts.signal.aborted) this.#clear();
      this.#fill();
      if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  async #consume({ process, held }: Batch): Promise<void> {
    const unreadable = held.filter((one) => one.bodyProblem !== undefined);
    const readable = unreadable.length === 0 ? held : held.filter((one) => one.bodyProblem === undefined);
    if (unreadable.length > 0) await this.#unreadable(process, unreadable);
    if (readable.length === 0) return;
    const context: ConsumeContext = { queue: process.queue, delayLevel: 0, suspendMs: 0 };
    const result = await callListener(this.#listener, this.#options.group, this.#parts, process, readable, context);
    if (result === ABANDONED || process.dropped) return;
    if (result === 'success') this.#finish(process, readable);
    else await this.#later(process, readable, context.delayLevel);
  }

  /** A body that this process cannot decompress: another member of the group may be able to. */
  async #unreadable(process: ProcessQueue, held: readonly Held[]): Promise<void> {
    for (const { message, bodyProblem } of held) {
      const { topic, msgId } = message;
      this.#parts.logger.error(
        { group: this.#options.group, topic, msgId, problem: bodyProblem },
        'message not readable',
      );
    }
    await this.#later(process, held, 0);
  }

  async #later(process: ProcessQueue, held: readonly Held[], delayLevel: number): Promise<void> {
    if (this.#options.broadcasting) {
      for (const { message } of held)
        this.#parts.logger.warn({ topic: message.topic, msgId: message.msgId }, 'broadcast message failed, dropped');
      return this.#finish(process, held);
    }
    const failed: Held[] = [];
    const returned: Held[] = [];
    for (const one of held) {
      if (one.done) continue; // given up before its listener answered, and sent back then
      try {
        await this.#parts.sendBack.send(one, delayLevel);
        returned.push(one);
      } catch (error) {
        const { topic, msgId } = one.message;
        this.#parts.logger.warn(
          { topic, msgId, problem: messageOf(error) },
          'message not sent back, kept for a local retry',
        );
        one.reconsumeTimes++;
        failed.push(one);
      }
    }
    // What was not sent back stays held, and with it the offset stays before it.
    if (returned.length > 0) this.#finish(process, returned);
    if (failed.length > 0) void this.#retryHere(process, failed);
  }

  async #retryHere(process: ProcessQueue, held: readonly Held[]): Promise<void> {
    await pause(this.#options.localRetryMs, this.#parts.signal);
    if (!this.#parts.signal.aborted && !process.dropped) this.submit(process, held);
  }

  #finish(process: ProcessQueue, held: readonly Held[]): void {
    const offset = process.done(held);
    if (offset >= 0 && !process.dropped) this.#parts.offsets.update(process.queue, offset, true);
  }
}
