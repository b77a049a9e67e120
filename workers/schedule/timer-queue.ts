import { QueueWord, type QueueTable } from '../../kernel/ring/queue-table.js';
import { Watermark, type Watermarks } from '../../kernel/ring/watermarks.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { measure } from '../../protocol/message/record.js';
import type { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { dueOfText, isDueTime } from '../../store/dispatch/due.js';
import { OffsetSet } from '../../store/schedule/offset-set.js';
import { OffsetWalk } from '../../store/schedule/offset-walk.js';
import type { TimerProgress } from '../../store/schedule/timer-progress.js';
import { LevelUnits } from './level-units.js';
import { PropertyFinder } from './property-finder.js';
import type { Records } from './records.js';
import type { Timer } from './timer-heap.js';

/** What one step may read: so many units, or fewer of those whose record must be read, too. */
const STEP_COST_MAX = 16_384;
const RECORD_COST = 64;

export interface TimerQueueNeeds {
  readonly queues: QueueFiles;
  readonly table: QueueTable;
  readonly watermarks: Watermarks;
  /** Read in the order of the queue. */
  readonly records: Records;
  readonly context: ServiceContext;
}

export interface RecordPlace {
  readonly physicalOffset: number;
  readonly size: number;
}

/** How far a reading came: to the queue's end, or not yet, or to a unit that cannot be read now. */
export type ReadTo = 'end' | 'more' | 'unreadable';

/** The timer topic's queue: what was dispatched to it, and which of it is pending. */
export class TimerQueue {
  pending = new OffsetSet();
  #end = 0;
  /** What was pending below `#end` when this began, and is not read yet. */
  #known = new OffsetWalk(this.pending);
  /** Done in an earlier life of the thread, and beyond what its last snapshot knew. */
  readonly #doneAhead = new Set<number>();
  #lost = 0;
  #unreadable = false;
  readonly #units: LevelUnits;
  readonly #moved: LevelUnits;
  readonly #out = new PropertyFinder(PropertyName.TIMER_OUT_MS);
  readonly #timer: Timer = { due: 0, queueOffset: 0, physicalOffset: 0, size: 0 };

  constructor(private readonly needs: TimerQueueNeeds) {
    this.#units = new LevelUnits(needs.queues, SystemTopic.TIMER, 0);
    this.#moved = new LevelUnits(needs.queues, SystemTopic.TIMER, 0);
  }

  /** Queue offset behind the last one that was looked at. */
  get end(): number {
    return this.#end;
  }

  /** So many of its offsets are not pending. */
  get settled(): number {
    return this.#end - this.pending.count;
  }

  /** Undefined: all that is in the queue is pending. */
  restore(progress: TimerProgress | undefined): void {
    const row = this.needs.table.find(SystemTopic.TIMER, 0);
    const { end, pending } = progress ?? {
      end: row < 0 ? 0 : this.needs.table.get(row, QueueWord.minimum),
      pending: new OffsetSet(),
    };
    this.pending = pending;
    this.#end = end;
    this.#known = new OffsetWalk(pending);
  }

  /** It is done. */
  settle(offset: number): void {
    if (offset >= this.#end) this.#doneAhead.add(offset);
    else this.pending.delete(offset);
  }

  /** Reads on, and hands out what is pending; `timer` is overwritten by the next one. */
  read(take: (timer: Timer) => void): ReadTo {
    const row = this.needs.table.find(SystemTopic.TIMER, 0);
    if (row < 0) return 'end';
    const minimum = this.needs.table.get(row, QueueWord.minimum);
    const dispatched = this.needs.table.get(row, QueueWord.dispatched);
    this.#skipDeleted(minimum);
    for (let cost = 0; cost < STEP_COST_MAX; cost++) {
      const offset = this.#known.current ?? this.#end;
      if (offset >= dispatched) return this.#reachedEnd(minimum);
      if (offset < minimum) this.#lose(offset);
      else if (!this.#units.point(offset, dispatched)) return this.#cannotRead(offset);
      else cost += this.#take(offset, take);
      if (offset < this.#end) this.#known.next();
      else this.#end = offset + 1;
    }
    return 'more';
  }

  /** Returns what it cost beyond one unit. */
  #take(offset: number, take: (timer: Timer) => void): number {
    const { physicalOffset, size, dueMs } = this.#units;
    this.#unreadable = false;
    if (this.#doneAhead.delete(offset)) return 0;
    if (physicalOffset < this.needs.watermarks.get(Watermark.logMin)) {
      this.#lose(offset);
      return 0;
    }
    const isKnown = dueMs !== undefined && isDueTime(dueMs);
    this.#timer.due = isKnown ? dueMs : this.#dueOf(physicalOffset, size);
    this.#timer.queueOffset = offset;
    this.#timer.physicalOffset = physicalOffset;
    this.#timer.size = size;
    if (offset >= this.#end) this.pending.add(offset);
    take(this.#timer);
    return isKnown ? 0 : RECORD_COST;
  }

  /** As its record says; one that does not say it is due now, and is named when it cannot be delivered. */
  #dueOf(physicalOffset: number, size: number): number {
    const record = this.needs.records.read(physicalOffset, size);
    if (record === undefined) return 0;
    const { propertiesAt, propertiesBytes } = measure(record, 0);
    if (!this.#out.find(record, propertiesAt, propertiesAt + propertiesBytes)) return 0;
    return dueOfText(record.toString('latin1', this.#out.start, this.#out.end)) ?? 0;
  }

  /** The record of what is pending at the offset; undefined while its unit cannot be read. */
  placeOf(offset: number): RecordPlace | undefined {
    const row = this.needs.table.find(SystemTopic.TIMER, 0);
    const units = this.#moved;
    if (row < 0 || !units.point(offset, this.needs.table.get(row, QueueWord.dispatched))) return undefined;
    return { physicalOffset: units.physicalOffset, size: units.size };
  }

  /** Where the first record lies that is pending and below `physicalOffset`; 0 when that cannot be told. */
  firstBelow(physicalOffset: number): number | undefined {
    const row = this.needs.table.find(SystemTopic.TIMER, 0);
    const unread = row >= 0 && this.#end < this.needs.table.get(row, QueueWord.dispatched) ? this.#end : undefined;
    const offset = this.pending.first ?? unread;
    if (offset === undefined) return undefined;
    const first = this.placeOf(offset)?.physicalOffset ?? 0;
    return first < physicalOffset ? first : undefined;
  }

  /** What was deleted and never looked at. */
  #skipDeleted(minimum: number): void {
    if (this.#end >= minimum) return;
    this.#lost += minimum - this.#end;
    this.#end = minimum;
  }

  #lose(offset: number): void {
    if (this.pending.delete(offset) || offset >= this.#end) this.#lost++;
  }

  #reachedEnd(minimum: number): 'end' {
    if (this.#lost > 0)
      this.needs.context.logger.warn(
        { messages: this.#lost, minimum },
        'delayed messages were deleted with old files before they were delivered',
      );
    this.#lost = 0;
    return 'end';
  }

  #cannotRead(offset: number): 'unreadable' {
    if (!this.#unreadable)
      this.needs.context.logger.error(
        { topic: SystemTopic.TIMER, offset },
        'a queue file of delayed messages is missing or damaged: they wait; a restart builds the file again',
      );
    this.#unreadable = true;
    return 'unreadable';
  }
}
