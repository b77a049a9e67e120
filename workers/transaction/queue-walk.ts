import type { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { QueueWord, type QueueTable } from '../../kernel/ring/queue-table.js';
import { isRecordUnit, UNIT_BYTES, unitPhysicalOffset, unitSize } from '../../store/consumequeue/unit.js';

/** Entries of one step: a few milliseconds, when each brings a record. */
const UNITS = 500;

/** One after the other of the entries of queue 0 of a topic; hears of each, and of what cannot be read. */
export interface EntryListener {
  entry(queueOffset: number, physicalOffset: number, size: number): void;
  /** Nothing can be read below this queue offset, from where the walk stands. */
  gap(until: number, why: string): void;
}

/** Walks over queue 0 of a topic. */
export class QueueWalk {
  readonly #units = Buffer.alloc(UNITS * UNIT_BYTES);
  #next: number;

  constructor(
    private readonly topic: string,
    private readonly table: QueueTable,
    private readonly queues: QueueFiles,
    start: number,
  ) {
    this.#next = start;
  }

  /** The queue offset that is read next. */
  get next(): number {
    return this.#next;
  }

  /** The end of what is dispatched. */
  get end(): number {
    return this.#word(QueueWord.dispatched);
  }

  /** The offset that the next message of the queue gets. */
  get assigned(): number {
    return this.#word(QueueWord.next);
  }

  /** Passes a bounded number of entries, none at or beyond `end`. */
  step(end: number, listener: EntryListener): void {
    const minimum = this.#word(QueueWord.minimum);
    if (this.#next < minimum) this.#gap(Math.min(minimum, end), 'it was deleted', listener);
    const count = Math.min(UNITS, end - this.#next);
    if (count <= 0) return;
    const bytes = this.#read(count);
    if (bytes === 0) return this.#gap(this.#fileEnd(end), 'its queue file cannot be read', listener);
    for (let at = 0; at < bytes; at += UNIT_BYTES) {
      const offset = this.#next;
      if (isRecordUnit(this.#units, at))
        listener.entry(offset, unitPhysicalOffset(this.#units, at), unitSize(this.#units, at));
      else listener.gap(offset + 1, 'its queue entry is none');
      this.#next = offset + 1;
    }
  }

  /** The entry at this offset, or undefined. */
  at(queueOffset: number): { readonly physicalOffset: number; readonly size: number } | undefined {
    if (queueOffset < this.#word(QueueWord.minimum) || queueOffset >= this.end) return undefined;
    const unit = this.queues.read(this.topic, 0, queueOffset, 1);
    if (unit.length < UNIT_BYTES || !isRecordUnit(unit, 0)) return undefined;
    return { physicalOffset: unitPhysicalOffset(unit, 0), size: unitSize(unit, 0) };
  }

  #read(count: number): number {
    try {
      return this.queues.readInto(this.#units, this.topic, 0, this.#next, count);
    } catch {
      return 0;
    }
  }

  #gap(until: number, why: string, listener: EntryListener): void {
    if (until <= this.#next) return;
    listener.gap(until, why);
    this.#next = until;
  }

  #fileEnd(end: number): number {
    const units = this.queues.fileBytes / UNIT_BYTES;
    return Math.min(end, (Math.floor(this.#next / units) + 1) * units);
  }

  #word(word: QueueWord): number {
    const row = this.table.find(this.topic, 0);
    return row < 0 ? 0 : this.table.get(row, word);
  }
}
