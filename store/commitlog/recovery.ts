import { join } from 'node:path';
import { assert } from '../../kernel/base/assert.js';
import { readInt64 } from '../../protocol/int64.js';
import { bodySizeAt, storeTimestampAt, SYS_FLAG_AT } from '../../protocol/message/record.js';
import type { Checkpoint } from '../checkpoint/checkpoint.js';
import { segmentName } from '../files/paths.js';
import { cutSegment } from './cut.js';
import { RECORD_HEAD_BYTES } from './record-layout.js';
import { checkRecord, DAMAGED, NEED_MORE, propertiesHoldZero, scanRecord, sizeIsPlausible } from './record-scan.js';
import type { Segments } from './segments.js';

/** Sees each valid record, whole in `buffer` at `offset`; the bytes are overwritten after the call. */
export type RecordVisitor = (buffer: Buffer, offset: number, size: number, physicalOffset: number) => void;

/** A stretch of a log without a gap, to be read. */
export type LogBytes = Pick<Segments, 'dir' | 'segmentBytes' | 'endOffset' | 'read'>;

export interface RecoverLogOptions {
  readonly segments: LogBytes;
  /** Start of a record, as a rule the start of a segment (see chooseRecoveryStart). */
  readonly fromOffset: number;
  /** Stops at the first record that begins at or beyond this offset; the files' end when missing. */
  readonly untilOffset?: number;
  readonly checkCrc: boolean;
  readonly onRecord?: RecordVisitor;
  /** How much is read at a time; larger records grow the buffer. */
  readonly chunkBytes?: number;
  /** Called with the physical offset reached before each read. */
  readonly onProgress?: (position: number) => void;
}

export interface RecoveredLog {
  /** Offset after the last valid record or filler: where the next record goes. */
  readonly validEnd: number;
  readonly records: number;
  /** File, position and reason when something other than never-written zeros ended the walk. */
  readonly firstDamage: string | undefined;
}

const CHUNK_BYTES = 2 * 1024 * 1024;
const FIRST_RECORD_BYTES = 64 * 1024;

/** Walks the records from `fromOffset` on up to the first that is not whole and valid. Changes nothing. */
export function recoverLog(options: RecoverLogOptions): RecoveredLog {
  const until = Math.min(options.untilOffset ?? Number.POSITIVE_INFINITY, options.segments.endOffset);
  const walk = new LogWalk(options);
  while (walk.position < until && walk.step()) {
    // Each step takes one record or filler.
  }
  return { validEnd: walk.position, records: walk.records, firstDamage: walk.damage };
}

class LogWalk {
  position: number;
  records = 0;
  damage: string | undefined;
  readonly #options: RecoverLogOptions;
  readonly #check: { readonly crc: boolean };
  #buffer: Buffer;
  /** The part of the buffer that was read: the log's bytes from `#start` on. */
  #bytes: Buffer;
  #start = 0;

  constructor(options: RecoverLogOptions) {
    this.#options = options;
    this.#check = { crc: options.checkCrc };
    this.position = options.fromOffset;
    const stretch = options.segments.endOffset - options.fromOffset;
    this.#buffer = Buffer.allocUnsafe(Math.min(options.chunkBytes ?? CHUNK_BYTES, Math.max(stretch, 1)));
    this.#bytes = this.#buffer.subarray(0, 0);
  }

  /** Takes what stands at `position`; false at the valid end. */
  step(): boolean {
    const remaining = this.#remainingInSegment();
    let found = this.#scan(remaining);
    if (found === NEED_MORE) {
      this.#fill(Math.min(remaining, 4096));
      found = this.#scan(remaining);
    }
    if (found < DAMAGED) return this.#takeFiller(-found, remaining);
    if (found <= 0) return this.#end(this.#isUnwritten() ? undefined : 'no record begins here');
    return this.#takeRecord(found, remaining);
  }

  #takeFiller(size: number, remaining: number): boolean {
    if (size !== remaining) return this.#end(`a filler of ${size} bytes where the segment has ${remaining} left`);
    this.position += size;
    return true;
  }

  #takeRecord(size: number, remaining: number): boolean {
    if (size > remaining) return this.#end(`a record of ${size} bytes where the segment has ${remaining} left`);
    if (this.#held() < size) {
      if (this.#held() < bodySizeAt(-1) + 4) this.#fill(Math.min(remaining, 4096));
      if (!sizeIsPlausible(this.#bytes, this.#at(), size))
        return this.#end(`size ${size} does not fit the body length`);
      this.#fill(size);
      if (this.#held() < size) return this.#end(`the file ends within a record of ${size} bytes`);
    }
    const problem = checkRecord(this.#bytes, this.#at(), this.position, this.#check);
    if (problem !== undefined) return this.#end(problem);
    if (propertiesHoldZero(this.#bytes, this.#at(), size) && !this.#continuesAt(this.position + size)) {
      return this.#end('the last record has zeros where its properties should be');
    }
    this.#options.onRecord?.(this.#bytes, this.#at(), size, this.position);
    this.records += 1;
    this.position += size;
    return true;
  }

  /** True when a record or a filler begins there. */
  #continuesAt(position: number): boolean {
    const { segments } = this.#options;
    const head = Buffer.alloc(RECORD_HEAD_BYTES);
    const read = segments.read(head, 0, Math.min(head.length, segments.endOffset - position), position);
    const found = scanRecord(head, 0, read, position);
    return found !== DAMAGED && found !== NEED_MORE;
  }

  #scan(remaining: number): number {
    return scanRecord(this.#bytes, this.#at(), Math.min(this.#held(), remaining), this.position);
  }

  #at(): number {
    return this.position - this.#start;
  }

  /** Bytes of the buffer from `position` on. */
  #held(): number {
    const held = this.#start + this.#bytes.length - this.position;
    return this.position >= this.#start && held > 0 ? held : 0;
  }

  /** Reads a chunk that begins at `position` and has at least `wanted` bytes, if the files have them. */
  #fill(wanted: number): void {
    if (wanted > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(wanted);
    this.#start = this.position;
    this.#options.onProgress?.(this.position);
    const length = this.#options.segments.read(this.#buffer, 0, this.#buffer.length, this.position);
    this.#bytes = this.#buffer.subarray(0, length);
  }

  #remainingInSegment(): number {
    const { segmentBytes } = this.#options.segments;
    return segmentBytes - (this.position % segmentBytes);
  }

  #isUnwritten(): boolean {
    const head = this.#bytes.subarray(this.#at(), this.#at() + 8);
    return head.every((byte) => byte === 0);
  }

  #end(reason: string | undefined): false {
    const { segments } = this.#options;
    if (reason !== undefined) {
      const within = this.position % segments.segmentBytes;
      const path = join(segments.dir, segmentName(this.position - within));
      this.damage = `${path} at ${within}: ${reason}`;
    }
    return false;
  }
}

/**
 * Makes `validEnd` the log's end for good: later segments are removed, what lies behind it in its own reads as zeros, all synced.
 * A segment that begins there stays, empty: its name keeps the offset (4.9: MappedFileQueue#truncateDirtyFiles). Returns the names of
 * the removed segments.
 */
export function truncateTail(segments: Segments, validEnd: number): string[] {
  const removed = segments.dropFrom(validEnd + 1);
  if (segments.count === 0 || validEnd === segments.endOffset) return removed;
  const base = segments.endOffset - segments.segmentBytes;
  assert(
    validEnd >= base && validEnd < segments.endOffset,
    `valid end ${validEnd} lies outside of the last segment ${base}`,
  );
  segments.close();
  cutSegment(segments.files, segments.dir, segments.temporaryDir, segments.segmentBytes, base, validEnd - base);
  return removed;
}

/** Syncs the segments that hold anything from `offset` on: what a killed process wrote may still be in the page cache only. */
export function syncFrom(segments: Segments, offset: number): void {
  for (const base of segments.bases()) {
    if (base + segments.segmentBytes > offset) segments.fileAt(base, 'readWrite')?.file.sync();
  }
}

/** Writes the same bytes once more, so that a sync has something to do. Changes nothing that can be read. */
export function rewrite(segments: Segments, from: number, to: number): void {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, to - from)));
  for (let at = from; at < to;) {
    const view = segments.fileAt(at, 'readWrite');
    assert(view !== undefined, `no segment holds offset ${at}`);
    const length = Math.min(chunk.length, to - at, view.base + segments.segmentBytes - at);
    const read = view.file.read(chunk, 0, length, at - view.base);
    assert(read === length, `the segment at ${view.base} ends before offset ${at + length}`);
    view.file.write(chunk, 0, length, at - view.base);
    at += length;
  }
}

export interface RecoveryStartOptions {
  readonly segments: Segments;
  /** False when the abort file was there: the last broker did not end by itself. */
  readonly normalExit: boolean;
  readonly checkpoint: Checkpoint;
  /** Wall clock, ms. */
  readonly nowMs: number;
  /** Whether the checkpoint's index time counts, too (4.9: messageIndexSafe). */
  readonly withIndex?: boolean;
}

/** 4.9: StoreCheckpoint#getMinTimestamp; what was stored so shortly before a sync may have missed it. */
const CHECKPOINT_MARGIN_MS = 3000;
/** So many segments are walked again for the index's sake; what it lacks before them is built while the broker serves. */
const INDEX_SEGMENTS_MAX = 2;

/**
 * Offset of the segment where recovery begins. After a normal end the third last (4.9: CommitLog#recoverNormally); else the last one
 * whose first record was stored before everything up to the checkpoint was synced (4.9: CommitLog#recoverAbnormally), or the first.
 * All from there on is to be dispatched again. A time newer than now tells nothing: the clock was set back since.
 */
export function chooseRecoveryStart(options: RecoveryStartOptions): number {
  const { segments, normalExit, checkpoint, nowMs } = options;
  const bases = segments.bases();
  if (normalExit) return bases[Math.max(0, bases.length - 3)] ?? 0;
  const { physicMsgTimestamp, logicsMsgTimestamp, queuesSyncedMs = 0 } = checkpoint;
  const times = [physicMsgTimestamp, logicsMsgTimestamp];
  if (options.withIndex === true) times.push(checkpoint.indexMsgTimestamp);
  const start = lastSegmentBefore(segments, times, nowMs);
  if (options.withIndex === true || queuesSyncedMs <= logicsMsgTimestamp) return start;
  const ofQueues = lastSegmentBefore(segments, [physicMsgTimestamp, queuesSyncedMs], nowMs);
  return ofQueues - start > INDEX_SEGMENTS_MAX * segments.segmentBytes ? ofQueues : start;
}

/** The last segment whose first record was stored before all these times, ms; the first one when there is none. */
function lastSegmentBefore(segments: Segments, times: readonly number[], nowMs: number): number {
  const bases = segments.bases();
  const trusted = times.every((time) => time <= nowMs) ? Math.min(...times) - CHECKPOINT_MARGIN_MS : 0;
  for (let index = bases.length - 1; index > 0; index -= 1) {
    const base = bases[index] ?? 0;
    const storedAt = firstStoreTimestamp(segments, base);
    if (storedAt > 0 && storedAt <= trusted) return base;
  }
  return segments.minOffset;
}

/**
 * When a segment's first record was stored, ms; 0 when it does not begin with a whole valid one. 4.9 looks at the magic only
 * (4.9: CommitLog#isMappedFileMatchedRecover); but of a time that was half written the rest reads as zeros, which makes it an old one.
 */
export function firstStoreTimestamp(segments: Segments, base: number): number {
  let storedAt = 0;
  recoverLog({
    segments,
    fromOffset: base,
    untilOffset: base + 1,
    checkCrc: true,
    chunkBytes: FIRST_RECORD_BYTES,
    onRecord(buffer, offset) {
      storedAt = readInt64(buffer, offset + storeTimestampAt(buffer.readInt32BE(offset + SYS_FLAG_AT)));
    },
  });
  return storedAt;
}
