import { crc32 } from '../../protocol/message/crc.js';
import type { StoreFiles } from '../files/contract.js';

/**
 * Up to which store times (ms) everything is synced: the commit log, the queues, the index (4.9: StoreCheckpoint). Never set newer
 * than what is on disk; recovery after a crash begins by them.
 */
export interface Checkpoint {
  readonly physicMsgTimestamp: number;
  readonly logicsMsgTimestamp: number;
  readonly indexMsgTimestamp: number;
  /**
   * Up to when the queues alone are synced, while `logicsMsgTimestamp` is older because it waits for the index. Behind what 4.9 knows,
   * with a checksum over all: a checkpoint that 4.9 wrote since has none.
   */
  readonly queuesSyncedMs?: number;
}

/** 4.9 maps one page, so a file of any other size would be extended by it. */
export const CHECKPOINT_BYTES = 4096;
const USED_BYTES = 24;
const QUEUES_AT = 24;
const CHECKSUM_AT = 32;
const OWN_BYTES = 36;
const SYNC_FAILED = Buffer.from('a sync of the commit log failed\n');

export const NO_CHECKPOINT: Checkpoint = { physicMsgTimestamp: 0, logicsMsgTimestamp: 0, indexMsgTimestamp: 0 };

/** A missing or shortened file, or a nonsense time in it, reads as zeros: recovery then begins at the first segment. */
export function readCheckpoint(files: StoreFiles, path: string): Checkpoint {
  if (!files.exists(path)) return NO_CHECKPOINT;
  const bytes = files.readAll(path);
  if (bytes.length < USED_BYTES) return NO_CHECKPOINT;
  const known = {
    physicMsgTimestamp: readTime(bytes, 0),
    logicsMsgTimestamp: readTime(bytes, 8),
    indexMsgTimestamp: readTime(bytes, 16),
  };
  return hasOwn(bytes) ? { ...known, queuesSyncedMs: readTime(bytes, QUEUES_AT) } : known;
}

function hasOwn(bytes: Buffer): boolean {
  if (bytes.length < OWN_BYTES || readTime(bytes, QUEUES_AT) === 0) return false;
  return bytes.readInt32BE(CHECKSUM_AT) === crc32(bytes, 0, CHECKSUM_AT);
}

function readTime(bytes: Buffer, offset: number): number {
  const time = Number(bytes.readBigInt64BE(offset));
  return Number.isSafeInteger(time) && time >= 0 ? time : 0;
}

/** Writes the times in place, within one disk sector, and syncs. */
export function writeCheckpoint(files: StoreFiles, path: string, checkpoint: Checkpoint): void {
  const bytes = Buffer.alloc(CHECKPOINT_BYTES);
  bytes.writeBigInt64BE(BigInt(checkpoint.physicMsgTimestamp), 0);
  bytes.writeBigInt64BE(BigInt(checkpoint.logicsMsgTimestamp), 8);
  bytes.writeBigInt64BE(BigInt(checkpoint.indexMsgTimestamp), 16);
  if (checkpoint.queuesSyncedMs !== undefined) {
    bytes.writeBigInt64BE(BigInt(checkpoint.queuesSyncedMs), QUEUES_AT);
    bytes.writeInt32BE(crc32(bytes, 0, CHECKSUM_AT), CHECKSUM_AT);
  }
  if (!files.exists(path) || files.sizeOf(path) !== CHECKPOINT_BYTES) {
    files.replace(path, bytes, false);
    return;
  }
  const file = files.open(path, 'readWrite');
  try {
    file.write(bytes, 0, OWN_BYTES, 0);
    file.sync();
  } finally {
    file.close();
  }
}

/** True when the last broker on this store did not end by itself. */
export function wasAborted(files: StoreFiles, abortPath: string): boolean {
  return files.exists(abortPath);
}

/** Call it before the first write of a run (4.9: DefaultMessageStore#createTempFile). */
export function markRunning(files: StoreFiles, abortPath: string): void {
  if (!files.exists(abortPath)) files.replace(abortPath, '', false);
}

/**
 * After a failed sync of the log: what it was to bring to disk reads well until the machine goes off and may be nowhere then, since
 * Linux reports such an error once and drops the dirty marks. The mark tells a start on the same machine to write it once more. It
 * needs no sync: after a power cut reads tell the truth. 4.9 looks at the abort file's existence only.
 */
export function markSyncFailed(files: StoreFiles, abortPath: string): void {
  const file = files.open(abortPath, 'readWrite');
  try {
    file.write(SYNC_FAILED, 0, SYNC_FAILED.length, 0);
  } finally {
    file.close();
  }
}

export function syncHasFailed(files: StoreFiles, abortPath: string): boolean {
  return files.exists(abortPath) && files.sizeOf(abortPath) > 0;
}

/** Everything that the failed sync was about has been written again and synced. */
export function clearSyncFailed(files: StoreFiles, abortPath: string): void {
  const file = files.open(abortPath, 'readWrite');
  try {
    file.truncate(0);
  } finally {
    file.close();
  }
}

/** Call it last of all, and only when everything was dispatched and synced. */
export function markEnded(files: StoreFiles, abortPath: string): void {
  if (files.exists(abortPath)) files.remove(abortPath);
}
