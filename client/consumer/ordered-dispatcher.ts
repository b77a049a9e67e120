import { messageOf } from '../../kernel/base/errors.js';
import type { ReceivedMessage } from '../message.js';
import type { MessageQueue } from '../transport/message-queue.js';
import type { DispatcherParts } from './dispatcher.js';
import {
  ABANDONED,
  callListener,
  type ConsumeContext,
  type ConsumeResult,
  type Consumption,
  type InnerListener,
} from './listener.js';
import { pause } from './pause.js';
import type { Held, ProcessQueue } from './process-queue.js';

export interface OrderedOptions {
  readonly group: string;
  readonly broadcasting: boolean;
  /** Queues that are consumed at the same time. */
  readonly concurrency: number;
  readonly batchMax: number;
  /** How long a queue rests after a message of it failed. */
  readonly suspendMs: number;
  /** A message that failed so often goes to the dead letters, and the queue goes on. */
  readonly maxReconsumeTimes: number;
}

export interface OrderedParts extends DispatcherParts {
  /** False: another member of the group may have the queue by now. */
  readonly holds: (process: ProcessQueue) => boolean;
  /** Called with a queue that is not held any more. */
  readonly lost: (process: ProcessQueue) => void;
}

/** 4.9: ConsumeMessageOrderlyService#submitConsumeRequestLater. */
const SUSPEND_MIN_MS = 10;
const SUSPEND_MAX_MS = 30_000;

/**
 * Hands messages to the listener in the order of their queue: the next one when the one before is done. What fails is offered again
 * after a rest, and its queue waits for it. 4.9: ConsumeMessageOrderlyService.
 */
export class OrderedDispatcher implements Consumption {
  readonly #listener: InnerListener;
  readonly #options: OrderedOptions;
  readonly #parts: OrderedParts;
  /** Queues that have something to do: ready, running or resting. */
  readonly #active = new Set<ProcessQueue>();
  #ready: ProcessQueue[] = [];
  readonly #running = new Map<ProcessQueue, Promise<void>>();

  constructor(listener: InnerListener, options: OrderedOptions, parts: OrderedParts) {
    this.#listener = listener;
    this.#options = options;
    this.#parts = parts;
  }

  submit(process: ProcessQueue): void {
    if (this.#parts.signal.aborted || this.#active.has(process)) return;
    this.#active.add(process);
    this.#ready.push(process);
    this.#fill();
  }

  async drain(timeoutMs: number): Promise<void> {
    this.#ready = [];
    if (this.#running.size === 0) return;
    const late = new AbortController();
    await Promise.race([Promise.all(this.#running.values()), pause(timeoutMs, late.signal)]);
    late.abort();
  }

  async direct(message: ReceivedMessage, queue: MessageQueue): Promise<ConsumeResult | typeof ABANDONED> {
    return this.#listener([message], this.#context(queue));
  }

  /** A message that takes long holds its queue: whatever comes after it comes after it. */
  giveUpExpired(): Promise<void> {
    return Promise.resolve();
  }

  async settled(process: ProcessQueue): Promise<void> {
    await this.#running.get(process);
  }

  #fill(): void {
    while (this.#running.size < this.#options.concurrency) {
      const process = this.#ready.shift();
      if (process === undefined) return;
      this.#running.set(process, this.#turn(process));
    }
  }

  /** One batch of one queue; then it is the others' turn. */
  async #turn(process: ProcessQueue): Promise<void> {
    let restMs = 0;
    try {
      restMs = await this.#consume(process);
    } catch (error) {
      this.#parts.logger.error({ group: this.#options.group, problem: messageOf(error) }, 'consumption failed');
      restMs = this.#options.suspendMs;
    }
    this.#running.delete(process);
    if (this.#parts.signal.aborted) return;
    if (process.dropped || process.count === 0) this.#active.delete(process);
    else if (restMs > 0) void this.#rest(process, restMs);
    else this.#ready.push(process);
    this.#fill();
  }

  async #rest(process: ProcessQueue, restMs: number): Promise<void> {
    await pause(Math.min(Math.max(restMs, SUSPEND_MIN_MS), SUSPEND_MAX_MS), this.#parts.signal);
    if (this.#parts.signal.aborted) return;
    this.#ready.push(process);
    this.#fill();
  }

  /** Milliseconds that the queue is to rest. */
  async #consume(process: ProcessQueue): Promise<number> {
    // An await first: a turn must not end before it is noted as running.
    await undefined;
    if (process.dropped || this.#parts.signal.aborted) return 0;
    if (!this.#parts.holds(process)) {
      this.#parts.lost(process);
      return 0;
    }
    const held = process.leading(this.#options.batchMax);
    const unreadable = held.findIndex((one) => one.bodyProblem !== undefined);
    if (unreadable === 0) return this.#unreadable(process, held[0]!);
    const batch = unreadable < 0 ? held : held.slice(0, unreadable);
    if (batch.length === 0) return 0;
    const context = this.#context(process.queue);
    const result = await callListener(this.#listener, this.#options.group, this.#parts, process, batch, context);
    if (result === ABANDONED) return context.suspendMs;
    if (result !== 'success') return this.#failed(process, batch, context.suspendMs);
    this.#finish(process, batch);
    return 0;
  }

  #context(queue: MessageQueue): ConsumeContext {
    return { queue, delayLevel: 0, suspendMs: this.#options.suspendMs };
  }

  /** A body that this process cannot decompress: another member of the group may be able to, and until then it holds its queue. */
  #unreadable(process: ProcessQueue, held: Held): Promise<number> {
    const { topic, msgId } = held.message;
    const about = { group: this.#options.group, topic, msgId, problem: held.bodyProblem };
    this.#parts.logger.error(about, 'message not readable');
    return this.#failed(process, [held], this.#options.suspendMs);
  }

  async #failed(process: ProcessQueue, batch: readonly Held[], suspendMs: number): Promise<number> {
    let again = false;
    for (const one of batch) {
      if (one.reconsumeTimes >= this.#options.maxReconsumeTimes && (await this.#givenUp(one))) {
        this.#finish(process, [one]);
        continue;
      }
      one.reconsumeTimes++;
      again = true;
    }
    return again ? suspendMs : 0;
  }

  /** To the dead letters. False: it could not be sent there, and stays. */
  async #givenUp(held: Held): Promise<boolean> {
    const { topic, msgId, queueId, queueOffset } = held.message;
    const about = { group: this.#options.group, topic, msgId, queueId, queueOffset };
    if (this.#options.broadcasting) {
      this.#parts.logger.warn(about, 'broadcast message failed, dropped');
      return true;
    }
    try {
      await this.#parts.sendBack.giveUp(held);
      this.#parts.logger.warn(
        { ...about, reconsumeTimes: held.reconsumeTimes },
        'message given up to the dead letters',
      );
      return true;
    } catch (error) {
      this.#parts.logger.warn({ ...about, problem: messageOf(error) }, 'message not given up, offered again');
      return false;
    }
  }

  #finish(process: ProcessQueue, held: readonly Held[]): void {
    const offset = process.done(held);
    if (offset >= 0 && !process.lost) this.#parts.offsets.update(process.queue, offset, true);
  }
}
