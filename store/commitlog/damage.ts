import { join } from 'node:path';
import { KernelError } from '../../kernel/base/errors.js';
import { readInt64 } from '../../protocol/int64.js';
import {
  BLANK_MAGIC,
  MAGIC_AT,
  MESSAGE_MAGIC,
  PHYSICAL_OFFSET_AT,
  storeTimestampAt,
  SYS_FLAG_AT,
} from '../../protocol/message/record.js';
import { segmentName } from '../files/paths.js';
import { type LogBytes, recoverLog, type RecoveredLog } from './recovery.js';
import { RECORD_HEAD_BYTES } from './record-layout.js';

/** RocketMQ 5 writes it for topics longer than 127 bytes (5.x: MessageVersion); 4.9 takes such a record for the log's end. */
export const MESSAGE_MAGIC_V2 = -626843477;

const MAGIC = Buffer.alloc(4);
MAGIC.writeInt32BE(MESSAGE_MAGIC);
const BLANK = Buffer.alloc(4);
BLANK.writeInt32BE(BLANK_MAGIC);

const CHUNK_BYTES = 4 * 1024 * 1024;
/** How far behind an end that looks well a start looks for records that something cut off: the largest message, and more. */
const GLANCE_BYTES = 8 * 1024 * 1024;

/** Store times, ms, of the records that a walk saw. */
export class StoreTimes {
  /** The newest, and that of the last record: they differ when the clock was set back. */
  newestMs = 0;
  lastMs = 0;

  visit(buffer: Buffer, offset: number): void {
    this.lastMs = readInt64(buffer, offset + storeTimestampAt(buffer.readInt32BE(offset + SYS_FLAG_AT)));
    if (this.lastMs > this.newestMs) this.newestMs = this.lastMs;
  }
}

/** Whole records behind a damaged place. */
export interface Following {
  /** Physical offset of the first one. */
  readonly position: number;
  /** When that one was stored, ms. */
  readonly storedMs: number;
}

/** The first whole record that begins behind `from` and before `until` (the files' end when missing), or undefined. Reads only. */
export function recordBehind(log: LogBytes, from: number, until = log.endOffset): Following | undefined {
  const end = Math.min(until, log.endOffset);
  const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, end - from)));
  for (let start = from + 1; start < end; start += chunk.length - RECORD_HEAD_BYTES + 1) {
    const length = log.read(chunk, 0, chunk.length, start);
    const bytes = chunk.subarray(0, length);
    for (let at = bytes.indexOf(MAGIC, MAGIC_AT); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
      const head = at - MAGIC_AT;
      if (head + RECORD_HEAD_BYTES > length) break;
      const position = start + head;
      if (position >= end || readInt64(bytes, head + PHYSICAL_OFFSET_AT) !== position) continue;
      const storedMs = storedAt(log, position);
      if (storedMs !== undefined) return { position, storedMs };
    }
    if (length < chunk.length || length <= RECORD_HEAD_BYTES) return undefined;
  }
  return undefined;
}

/** When the record that begins there was stored, ms; undefined when none does. */
function storedAt(segments: LogBytes, fromOffset: number): number | undefined {
  const times = new StoreTimes();
  const onRecord = (buffer: Buffer, offset: number): void => times.visit(buffer, offset);
  const { records } = recoverLog({
    segments,
    fromOffset,
    untilOffset: fromOffset + 1,
    checkCrc: true,
    chunkBytes: 65_536,
    onRecord,
  });
  return records === 0 ? undefined : times.lastMs;
}

/** How much of whole records there is from the start of one on, damaged places between them passed over. */
export function goodBytesFrom(log: LogBytes, position: number): { readonly bytes: number; readonly records: number } {
  let bytes = 0;
  let records = 0;
  for (let at: number | undefined = position; at !== undefined;) {
    const walk: RecoveredLog = recoverLog({ segments: log, fromOffset: at, checkCrc: true });
    bytes += walk.validEnd - at;
    records += walk.records;
    at = recordBehind(log, walk.validEnd)?.position;
  }
  return { bytes, records };
}

export interface LogEnd {
  readonly log: LogBytes;
  /** What the walk to the end found. */
  readonly walk: RecoveredLog;
  readonly times: StoreTimes;
  /** The last broker on the store ended by itself: everything was synced and dispatched. */
  readonly normalExit: boolean;
  /** The checkpoint's physicMsgTimestamp: up to which store time all was synced, ms; 0 when it tells nothing. */
  readonly syncedMs: number;
  /** Physical offset behind the last record that any queue has a unit of. Asked for when nothing else tells. */
  readonly queuedEnd: () => number;
}

/**
 * What stands at a log's end:
 * - `clean`: nothing behind it;
 * - `torn`: what a power cut or a kill leaves, of which nothing was known to be on disk;
 * - `damaged`: records that were on disk are gone or unreadable: whole ones of that time follow, or the queues have them.
 */
export type Verdict =
  | { readonly kind: 'clean' }
  | { readonly kind: 'torn' | 'damaged'; readonly where: string; readonly following: Following | undefined };

/**
 * Judges the end of a walk. A power cut may lose unsynced pages in any order: whole records behind a hole are evidence only when
 * they were synced, which the checkpoint or a normal end says. 4.9 cuts without looking. Throws STORE_FOREIGN for a log that neither
 * 4.9 nor we have written. Reads only, and little when all is well.
 */
export function judgeEnd(end: LogEnd): Verdict {
  const { log, walk, times, normalExit, syncedMs } = end;
  const position = walk.validEnd;
  const lost = times.newestMs < syncedMs;
  if (position >= log.endOffset) return normalExit ? queuesTell(end) : { kind: 'clean' };
  refuseVersion5(log, position);
  const suspicious = walk.firstDamage !== undefined || lost || nextSegmentIsUsed(log, position);
  const following = recordBehind(log, position, suspicious ? undefined : position + GLANCE_BYTES);
  if (following === undefined) {
    refuseForeignStart(log, position);
    if (normalExit && (walk.firstDamage !== undefined || lost)) return queuesTell(end);
    return walk.firstDamage === undefined ? { kind: 'clean' } : { kind: 'torn', where: walk.firstDamage, following };
  }
  // Bytes of a life before: 4.9 cuts by moving its end, and what stood behind it comes to light when less is written over it.
  const isOlder = following.storedMs < times.lastMs;
  const wasSynced = normalExit || (lost && following.storedMs <= syncedMs);
  return { kind: wasSynced && !isOlder ? 'damaged' : 'torn', where: placeOf(end), following };
}

/** After a normal end each record has its unit: one of a record behind the end says that the record was there. */
function queuesTell(end: LogEnd): Verdict {
  const where = placeOf(end);
  if (end.queuedEnd() > end.walk.validEnd) return { kind: 'damaged', where, following: undefined };
  return end.walk.firstDamage === undefined ? { kind: 'clean' } : { kind: 'torn', where, following: undefined };
}

function placeOf({ log, walk }: LogEnd): string {
  const what = walk.validEnd < log.endOffset ? 'zeros where a record should begin' : 'the file is missing';
  return walk.firstDamage ?? `${placeIn(log, walk.validEnd)}: ${what}`;
}

/** File and position in it of a physical offset. */
export function placeIn(log: Pick<LogBytes, 'dir' | 'segmentBytes'>, physicalOffset: number): string {
  const within = physicalOffset % log.segmentBytes;
  return `${join(log.dir, segmentName(physicalOffset - within))} at ${within}`;
}

function nextSegmentIsUsed(log: LogBytes, position: number): boolean {
  const next = position - (position % log.segmentBytes) + log.segmentBytes;
  const head = Buffer.alloc(8);
  return next < log.endOffset && log.read(head, 0, 8, next) > 0 && head.some((byte) => byte !== 0);
}

function refuseVersion5(log: LogBytes, position: number): void {
  const head = Buffer.alloc(RECORD_HEAD_BYTES);
  log.read(head, 0, head.length, position);
  if (head.readInt32BE(MAGIC_AT) !== MESSAGE_MAGIC_V2 || readInt64(head, PHYSICAL_OFFSET_AT) !== position) return;
  throw foreign(`${placeIn(log, position)}: a record in the format of RocketMQ 5, which 4.9 cannot read`);
}

/** A segment whose first bytes can be no record, not even one that a power cut left in part. */
function refuseForeignStart(log: LogBytes, position: number): void {
  if (position % log.segmentBytes !== 0) return;
  const magic = Buffer.alloc(8);
  log.read(magic, 0, 8, position);
  const couldBe = (wanted: Buffer): boolean =>
    wanted.every((byte, index) => [0, byte].includes(magic[MAGIC_AT + index] ?? 0));
  if (couldBe(MAGIC) || couldBe(BLANK)) return;
  throw foreign(`${placeIn(log, position)}: neither a record nor zeros, and no record follows: this is no commit log`);
}

export function foreign(what: string): KernelError {
  return new KernelError('STORE_FOREIGN', what, {
    remedy: 'nothing was changed; start the broker that wrote it, or choose another folder with --store',
  });
}

/** For a start that may not cut: says what is there and what would be lost. */
export function damagedLog(log: LogBytes, verdict: Exclude<Verdict, { kind: 'clean' }>): KernelError {
  const { where, following } = verdict;
  const good = following === undefined ? undefined : goodBytesFrom(log, following.position);
  const behind =
    good === undefined || following === undefined
      ? 'the queues have records there'
      : `${good.bytes} bytes in ${good.records} whole records follow from offset ${following.position} on`;
  return new KernelError('LOG_DAMAGED', `${where}; ${behind}, and they were on disk: a start would cut them off`, {
    remedy:
      'nothing was changed; see all of it with kernel store verify, restore the file from a copy, or start once with ' +
      '--set truncateDamagedLog=true, which cuts the log there as 4.9 does and loses what follows',
  });
}
