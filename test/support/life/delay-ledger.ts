import { SystemTopic } from '../../../protocol/message/names.js';
import { propertyOf } from '../../../protocol/message/properties.js';
import { decodeRecord, type StoredMessage } from '../../../protocol/message/record.js';
import { recoverLog } from '../../../store/commitlog/recovery.js';
import { Segments } from '../../../store/commitlog/segments.js';
import type { TimerProgress } from '../../../store/schedule/timer-progress.js';
import { storePaths } from '../../../store/files/paths.js';
import type { LossyFiles } from '../lossy-files.js';
import { STORE } from './broker-life.js';
import type { Ending } from './life-check.js';

/** Where all delayed messages of these lives go. */
export const DELIVERED_TOPIC = 'T';
const SEGMENT_BYTES = 8192;
const paths = storePaths(STORE);

/** One delayed send. */
export interface DelayedEntry {
  readonly id: number;
  /** 0: it names its own delivery time. */
  readonly level: number;
  acked: boolean;
}

/** As it stands in the log. */
interface Waiting {
  readonly level: number;
  readonly queueOffset: number;
  readonly dueMs: number;
}

/** What was sent, what the log held at the begin of each life, and how the life before had ended. */
export class DelayLedger {
  readonly entries: DelayedEntry[] = [];
  readonly longestMs: number;
  /** Ends of the log at the begin of lives that follow a kill or a cut. */
  readonly #breaks: number[] = [];
  #waiting = new Map<number, Waiting>();
  #copies = new Map<number, StoredMessage[]>();

  constructor(
    readonly levelsMs: readonly number[],
    private readonly sync: boolean,
  ) {
    this.longestMs = Math.max(...levelsMs);
  }

  add(level: number): DelayedEntry {
    const entry = { id: this.entries.length, level, acked: false };
    this.entries.push(entry);
    return entry;
  }

  /** Reads the log of a store that was just recovered; throws an Error that begins with the broken promise. */
  recovered(files: LossyFiles, end: number, before: Ending): void {
    if (before !== 'stop') this.#breaks.push(end);
    this.#waiting = new Map();
    this.#copies = new Map();
    const segments = new Segments(files, paths.commitLog, paths.temporary, SEGMENT_BYTES);
    segments.open('read');
    recoverLog({
      segments,
      fromOffset: segments.minOffset,
      checkCrc: true,
      onRecord: (buffer, offset) => this.#see(decodeRecord(buffer, offset)),
    });
    segments.close();
    for (const entry of this.entries) this.#checkThere(entry, before);
    for (const [id, copies] of this.#copies) this.#checkCopies(id, copies);
  }

  /** Progress of the levels as a start found it: it counts only what the log holds. */
  checkProgress(offsets: ReadonlyMap<number, number>, timers: TimerProgress | undefined): void {
    const isDone = (level: number, queueOffset: number): boolean =>
      level > 0
        ? queueOffset < (offsets.get(level) ?? 0)
        : timers !== undefined && queueOffset < timers.end && !timers.pending.has(queueOffset);
    for (const [id, { level, queueOffset }] of this.#waiting)
      if (isDone(level, queueOffset) && !this.#copies.has(id))
        throw new Error(`lost: message ${id} at ${level}/${queueOffset} is counted as delivered, and is not`);
  }

  /** Of the log as the last `recovered` read it. */
  checkAllDelivered(): void {
    const lost = [...this.#waiting.keys()].filter((id) => !this.#copies.has(id));
    if (lost.length > 0) throw new Error(`lost: messages ${lost.slice(0, 10).join(', ')} were never delivered`);
  }

  #see(message: StoredMessage): void {
    const id = message.body.readInt32BE(0);
    const { topic, queueId, queueOffset, storeTimestamp, properties } = message;
    if (topic === SystemTopic.SCHEDULE) {
      const dueMs = storeTimestamp + this.levelsMs[queueId]!;
      this.#waiting.set(id, { level: queueId + 1, queueOffset, dueMs });
    } else if (topic === SystemTopic.TIMER) {
      this.#waiting.set(id, { level: 0, queueOffset, dueMs: Number(propertyOf(properties, 'TIMER_OUT_MS')) });
    } else {
      const copies = this.#copies.get(id);
      if (copies === undefined) this.#copies.set(id, [message]);
      else copies.push(message);
    }
  }

  /** A power cut may take what was not synced, and then that is no more expected. */
  #checkThere(entry: DelayedEntry, before: Ending): void {
    if (!entry.acked || this.#waiting.has(entry.id)) return;
    if (before !== 'power cut' || this.sync)
      throw new Error(`lost: message ${entry.id} was acknowledged before a ${before}`);
    entry.acked = false;
  }

  #checkCopies(id: number, copies: readonly StoredMessage[]): void {
    const waiting = this.#waiting.get(id);
    const [first] = copies;
    if (waiting === undefined || first === undefined) throw new Error(`invented: message ${id} was delivered`);
    if (first.topic !== DELIVERED_TOPIC) throw new Error(`message ${id} went to ${first.topic}`);
    const earlyMs = waiting.dueMs - first.storeTimestamp;
    if (earlyMs > 0) throw new Error(`early: message ${id} was delivered ${earlyMs} ms before it was due`);
    for (let at = 1; at < copies.length; at++) {
      const [from, to] = [copies[at - 1]!.physicalOffset, copies[at]!.physicalOffset];
      if (!this.#breaks.some((end) => end > from && end <= to))
        throw new Error(`repeated: message ${id} at ${from} and ${to}, without a kill in between`);
    }
  }
}
