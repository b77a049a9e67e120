import type { Received } from '../received.js';
import type { MessageQueue } from '../transport/message-queue.js';

/** A message that was pulled and is not done yet. */
export interface Held extends Received {
  /** How often it was consumed in vain, also on this client only. */
  reconsumeTimes: number;
  /** Monotonic time at which a listener got it; 0 while none did. */
  startedMs: number;
  done: boolean;
}

/** The list is compacted when more than so many done messages lead it. */
const COMPACT_AT = 1024;

/**
 * The messages of one queue between pull and commit. The offset to commit is that of the first one not done, whatever
 * comes after it: what is not done is never passed over.
 */
export class ProcessQueue {
  readonly queue: MessageQueue;
  /** Set when the queue goes to another consumer or its offset is moved: nothing more is pulled or begun. */
  dropped = false;
  /** Ordered consumption: what still runs no longer counts, since the offset was moved or another member may have the queue. */
  lost = false;
  /** Ordered consumption: monotonic time at which the broker's lock was last asked for with success. */
  lockedMs = 0;
  /** Where the next pull begins. */
  nextOffset: number;
  lastPullMs: number;
  lastConsumeMs: number;
  #held: Held[] = [];
  #head = 0;
  #count = 0;
  #bytes = 0;
  #maxOffset = -1;

  constructor(queue: MessageQueue, nextOffset: number, nowMs: number) {
    this.queue = queue;
    this.nextOffset = nextOffset;
    this.lastPullMs = nowMs;
    this.lastConsumeMs = nowMs;
  }

  /** Messages held, done ones between others not counted. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of their bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Offset of the first message not done, or -1. */
  get minOffset(): number {
    return this.#held[this.#head]?.message.queueOffset ?? -1;
  }

  /** Offset of the last message ever held, or -1. */
  get maxOffset(): number {
    return this.#maxOffset;
  }

  /** Distance between first and last message held: one that is never done lets it grow. */
  get span(): number {
    return this.#head < this.#held.length ? this.#maxOffset - this.minOffset : 0;
  }

  /** The first message not done. */
  get first(): Held | undefined {
    return this.#held[this.#head];
  }

  /** The first messages not done, at most `max`. */
  leading(max: number): Held[] {
    const found: Held[] = [];
    for (let at = this.#head; at < this.#held.length && found.length < max; at++)
      if (this.#held[at]!.done === false) found.push(this.#held[at]!);
    return found;
  }

  /** Takes pulled messages in order of their offsets; such as are held already are left out. */
  put(messages: readonly Received[]): Held[] {
    const added: Held[] = [];
    for (const one of messages) {
      if (one.message.queueOffset <= this.#maxOffset) continue;
      this.#maxOffset = one.message.queueOffset;
      this.#bytes += one.message.body.length;
      added.push({ ...one, reconsumeTimes: one.message.reconsumeTimes, startedMs: 0, done: false });
    }
    this.#held.push(...added);
    this.#count += added.length;
    return added;
  }

  /** Marks messages done and returns the offset to commit, or -1 when none was held. 4.9: ProcessQueue#removeMessage. */
  done(messages: readonly Held[]): number {
    if (this.#count === 0) return -1;
    for (const held of messages) {
      if (held.done) continue;
      held.done = true;
      this.#count--;
      this.#bytes -= held.message.body.length;
    }
    while (this.#held[this.#head]?.done === true) this.#head++;
    if (this.#head === this.#held.length || this.#head > COMPACT_AT) {
      this.#held = this.#held.slice(this.#head);
      this.#head = 0;
    }
    return this.#count === 0 ? this.#maxOffset + 1 : this.minOffset;
  }
}
