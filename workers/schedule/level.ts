import { LEVEL_WINDOW, type LevelWords } from '../../kernel/ring/level-words.js';
import { QueueWord, type QueueTable } from '../../kernel/ring/queue-table.js';
import type { ServiceContext } from '../../kernel/threads/service.js';
import { SystemTopic } from '../../protocol/message/names.js';
import type { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { storeTimeOf } from '../../store/commitlog/record-scan.js';
import { LevelForm } from './level-form.js';
import { LevelUnits } from './level-units.js';
import type { Records } from './records.js';
import { RETRY_MS, type Form, type Hand, type Source } from './source.js';

/** Between two looks at a queue file that is missing. */
const UNREADABLE_MS = 1000;

export interface LevelNeeds {
  /** Level − 1. */
  readonly queueId: number;
  readonly delayMs: number;
  readonly queues: QueueFiles;
  readonly table: QueueTable;
  readonly words: LevelWords;
  readonly records: Records;
  readonly context: ServiceContext;
}

/**
 * One delay level. The next message of its queue is always the next due, since all of a level wait equally long. A token is the
 * message's offset in the queue.
 */
export class Level implements Source {
  readonly records: Records;
  readonly #needs: LevelNeeds;
  readonly #units: LevelUnits;
  readonly #form = new LevelForm();
  /** Next offset to hand over; what lies between progress and it is on its way, or delivered. */
  #cursor: number;
  /** The first that is not done: as in the shared word, of which this is the only writer. */
  #progress: number;
  #inFlight = 0;
  /** Something came back: no earlier than then it starts again from its progress, monotonic ms. */
  #againAtMs: number | undefined;
  #unreadable = false;
  #movedBelow = 0;
  #formOf: (dueMs: number) => Form = () => this.#form;

  constructor(needs: LevelNeeds) {
    this.#needs = needs;
    this.records = needs.records;
    this.#units = new LevelUnits(needs.queues, SystemTopic.SCHEDULE, needs.queueId);
    this.#cursor = this.#progress = needs.words.progress(needs.queueId);
  }

  due(nowMs: number, hand: Hand): number {
    const row = this.#needs.table.find(SystemTopic.SCHEDULE, this.#needs.queueId);
    if (row < 0) return Infinity;
    const retryInMs = this.#retryInMs();
    if (retryInMs > 0) return retryInMs;
    this.#passDeleted(this.#needs.table.get(row, QueueWord.minimum));
    const end = this.#needs.table.get(row, QueueWord.dispatched);
    // Within the window; beyond it the bell rings when something comes back.
    for (; this.#cursor < end && this.#cursor - this.#progress < LEVEL_WINDOW; this.#cursor++) {
      if (this.#needs.words.isDelivered(this.#needs.queueId, this.#cursor)) continue;
      if (!this.#units.point(this.#cursor, end)) return this.#cannotRead();
      this.#unreadable = false;
      const dueMs = this.#dueMs();
      let waitMs = dueMs - nowMs;
      // It may have been stored since this step began: the clock that it is compared with must be later than its store time.
      if (waitMs > this.#needs.delayMs) waitMs = dueMs - this.#needs.context.clock.wallMs();
      // 4.9: correctDeliverTimestamp: a due time further away than the level's delay comes from a clock that was set back.
      const isDue = waitMs <= 0 || waitMs > this.#needs.delayMs;
      if (!isDue && this.#units.physicalOffset >= this.#movedBelow) return waitMs;
      this.#inFlight++;
      const form = isDue ? this.#form : this.#formOf(dueMs);
      if (hand(this.#cursor, this.#units.physicalOffset, this.#units.size, form)) continue;
      this.#inFlight--;
      break;
    }
    return Infinity;
  }

  /**
   * From now on messages that lie below `physicalOffset` are stored again in the form that `formOf` gives for their due time, when they
   * are not due yet: their files are about to go.
   */
  moveBelow(physicalOffset: number, formOf: (dueMs: number) => Form): void {
    this.#movedBelow = physicalOffset;
    this.#formOf = formOf;
  }

  /** Where the first message lies that is not done, when that is below `physicalOffset`. */
  firstBelow(physicalOffset: number): number | undefined {
    const { table, queueId } = this.#needs;
    const row = table.find(SystemTopic.SCHEDULE, queueId);
    const end = row < 0 ? 0 : table.get(row, QueueWord.dispatched);
    if (this.#progress >= end) return undefined;
    // Unknown: it may be anywhere.
    if (!this.#units.point(this.#progress, end)) return 0;
    return this.#units.physicalOffset < physicalOffset ? this.#units.physicalOffset : undefined;
  }

  delivered(token: number): void {
    this.#back();
    this.#advance(token);
  }

  undeliverable(token: number): void {
    this.#back();
    this.#advance(token);
  }

  again(_token: number): void {
    this.#back();
    this.#againAtMs = this.#needs.context.clock.monoMs() + RETRY_MS;
  }

  /** What an earlier life handed over does not count. */
  #back(): void {
    if (this.#inFlight > 0) this.#inFlight--;
  }

  /** Progress moves over what is delivered without a gap. */
  #advance(token: number): void {
    const { words, queueId } = this.#needs;
    if (token < this.#progress) return;
    words.setDelivered(queueId, token);
    if (token > this.#progress) return;
    while (words.isDelivered(queueId, this.#progress)) this.#progress++;
    words.setProgress(queueId, this.#progress);
  }

  /** 0 when there is nothing to wait for; what came back is looked for when nothing is on its way any more. */
  #retryInMs(): number {
    if (this.#againAtMs === undefined) return 0;
    if (this.#inFlight > 0) return Infinity;
    const leftMs = this.#againAtMs - this.#needs.context.clock.monoMs();
    if (leftMs > 0) return leftMs;
    this.#againAtMs = undefined;
    this.#cursor = this.#progress;
    return 0;
  }

  /** What retention deleted before it was due is passed over, and said. */
  #passDeleted(minimum: number): void {
    const { words, queueId, context } = this.#needs;
    const from = this.#progress;
    if (from >= minimum) return;
    context.logger.warn(
      { level: queueId + 1, from, to: minimum },
      'delayed messages were deleted with old files before they were delivered',
    );
    words.setProgress(queueId, minimum);
    this.#progress = minimum;
    this.#cursor = Math.max(this.#cursor, minimum);
  }

  /** Worked out again when its ext unit is missing (4.9: DeliverDelayedMessageTimerTask). */
  #dueMs(): number {
    const { dueMs, physicalOffset, size } = this.#units;
    if (dueMs !== undefined) return dueMs;
    const record = this.records.read(physicalOffset, size);
    return record === undefined ? 0 : storeTimeOf(record, record.length, physicalOffset) + this.#needs.delayMs;
  }

  #cannotRead(): number {
    if (!this.#unreadable)
      this.#needs.context.logger.error(
        { level: this.#needs.queueId + 1, offset: this.#cursor },
        'a queue file of a delay level is missing or damaged: its messages wait; a restart builds the file again',
      );
    this.#unreadable = true;
    return UNREADABLE_MS;
  }
}
