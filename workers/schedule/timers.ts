import type { TimerWords } from '../../kernel/ring/timer-words.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import { OffsetWalk } from '../../store/schedule/offset-walk.js';
import { decodeTimerProgress, encodeTimerProgress } from '../../store/schedule/timer-progress.js';
import type { TimerSnapshot } from './contract.js';
import { LevelForm } from './level-form.js';
import type { Records } from './records.js';
import type { Movable } from './mover.js';
import { RETRY_MS, type Hand, type Source } from './source.js';
import { TimerForm } from './timer-form.js';
import { TimerHeap, type Timer } from './timer-heap.js';
import type { TimerQueue } from './timer-queue.js';

/** Between two looks at a queue file that is missing. */
const UNREADABLE_MS = 1000;

export interface TimerNeeds {
  readonly queue: TimerQueue;
  readonly words: TimerWords;
  readonly records: Records;
  readonly context: ServiceContext;
}

/**
 * Messages with a delivery time of their own, in order of these. A token is the message's offset in the queue of the timer topic. Which of
 * them are pending outlives the thread: the kernel's thread keeps snapshots, and what was done since stands in shared memory.
 */
export class Timers implements Source, Movable {
  readonly records: Records;
  readonly #needs: TimerNeeds;
  readonly #heap = new TimerHeap();
  readonly #form = new LevelForm();
  /** Handed over, and not in the heap. */
  readonly #inFlight = new Map<number, Timer>();
  /** Handed over to be stored once more; what is not in the heap any more, because it fell due meanwhile. */
  readonly #moving = new Map<number, Timer | undefined>();
  #movedBelow = 0;
  #walk: OffsetWalk | undefined;
  readonly #moveForm = new TimerForm();
  readonly #first: Timer = { due: 0, queueOffset: 0, physicalOffset: 0, size: 0 };
  #restored = false;
  /** All that was pending at the beginning is in the heap: nothing is delivered before what is due before it. */
  #loaded = false;
  /** After something came back, monotonic ms. */
  #againAtMs = Number.NEGATIVE_INFINITY;

  constructor(needs: TimerNeeds) {
    this.#needs = needs;
    this.records = needs.records;
  }

  /** Begins with what a snapshot says; undefined: everything in the queue is pending. Throws when the content is not whole. */
  restore({ content, done }: TimerSnapshot): void {
    const { queue, words, context } = this.#needs;
    queue.restore(content === undefined ? undefined : decodeTimerProgress(Buffer.from(content)));
    const since = words.since(done);
    if (since === undefined)
      context.logger.warn(
        { messages: words.done - done },
        'the schedule thread died, and it is not known any more which delayed messages it delivered last: some come again',
      );
    for (const queueOffset of since ?? []) queue.settle(queueOffset);
    this.#restored = true;
    words.settled = queue.settled;
  }

  snapshot(): TimerSnapshot {
    const { queue, words } = this.#needs;
    return { content: encodeTimerProgress(queue), done: words.done };
  }

  due(nowMs: number, hand: Hand): number {
    if (!this.#restored) return Infinity;
    const { queue, words } = this.#needs;
    const read = queue.read((timer) => this.#heap.push(timer));
    words.settled = queue.settled;
    this.#loaded ||= read !== 'more';
    if (!this.#loaded) return 0;
    const retryInMs = this.#againAtMs - this.#needs.context.clock.monoMs();
    if (retryInMs > 0) return retryInMs;
    const waitMs = this.#deliver(nowMs, hand);
    this.#moveOn(hand);
    if (read === 'more') return 0;
    return read === 'end' ? waitMs : Math.min(waitMs, UNREADABLE_MS);
  }

  delivered(token: number): void {
    this.#done(token);
  }

  undeliverable(token: number): void {
    this.#done(token);
  }

  again(token: number): void {
    this.#againAtMs = this.#needs.context.clock.monoMs() + RETRY_MS;
    // What an earlier life handed over is read from the queue again.
    const timer = this.#inFlight.get(token) ?? this.#moving.get(token);
    this.#forget(token);
    if (timer !== undefined) this.#heap.push(timer);
  }

  moveBelow(physicalOffset: number): void {
    if (this.#walk !== undefined) this.#heap.retain((queueOffset) => this.#needs.queue.pending.has(queueOffset));
    this.#movedBelow = physicalOffset;
    this.#walk = undefined;
  }

  firstBelow(physicalOffset: number): number | undefined {
    return this.#restored ? this.#needs.queue.firstBelow(physicalOffset) : 0;
  }

  /** Hands over those that lie below the offset: in a queue they lie in the order of the log. */
  #moveOn(hand: Hand): void {
    if (this.#movedBelow === 0) return;
    const walk = (this.#walk ??= new OffsetWalk(this.#needs.queue.pending));
    for (let token = walk.current; token !== undefined; token = walk.current) {
      if (!this.#inFlight.has(token)) {
        const place = this.#needs.queue.placeOf(token);
        if (place === undefined || place.physicalOffset >= this.#movedBelow) return;
        this.#moving.set(token, undefined);
        if (!hand(token, place.physicalOffset, place.size, this.#moveForm)) {
          this.#moving.delete(token);
          return;
        }
      }
      walk.next();
    }
  }

  #forget(token: number): void {
    this.#inFlight.delete(token);
    this.#moving.delete(token);
  }

  #done(token: number): void {
    this.#forget(token);
    this.#needs.words.note(token);
    if (this.#restored) this.#needs.queue.settle(token);
  }

  #deliver(nowMs: number, hand: Hand): number {
    const first = this.#first;
    while (this.#heap.firstDue <= nowMs) {
      this.#heap.pop(first);
      const token = first.queueOffset;
      if (!this.#needs.queue.pending.has(token)) continue;
      if (this.#moving.has(token)) {
        this.#moving.set(token, { ...first });
        continue;
      }
      this.#inFlight.set(token, { ...first });
      if (hand(token, first.physicalOffset, first.size, this.#form)) continue;
      this.#inFlight.delete(token);
      this.#heap.push(first);
      return Infinity;
    }
    return this.#heap.firstDue - nowMs;
  }
}
