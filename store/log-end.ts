import {
  type Checkpoint,
  clearSyncFailed,
  markSyncFailed,
  syncHasFailed,
  writeCheckpoint,
} from './checkpoint/checkpoint.js';
import { damagedLog, judgeEnd, type StoreTimes } from './commitlog/damage.js';
import {
  recoverLog,
  type RecordVisitor,
  type RecoveredLog,
  rewrite,
  syncFrom,
  truncateTail,
} from './commitlog/recovery.js';
import type { Segments } from './commitlog/segments.js';
import { lastQueuedEnd } from './consumequeue/queue-scan.js';
import type { RecoverStoreOptions } from './recovery.js';

/** Walks the log from an offset on and tells how far it is. */
export function walkLog(options: RecoverStoreOptions, fromOffset: number, onRecord: RecordVisitor): RecoveredLog {
  const { segments, checkCrc, onProgress } = options;
  const total = segments.endOffset - fromOffset;
  if (onProgress === undefined) return recoverLog({ segments, fromOffset, checkCrc, onRecord });
  const walk = recoverLog({
    segments,
    fromOffset,
    checkCrc,
    onRecord,
    onProgress: (position) => onProgress(position - fromOffset, total),
  });
  onProgress(total, total);
  return walk;
}

/** What the walk found. */
export interface FoundLog {
  readonly log: RecoveredLog;
  readonly times: StoreTimes;
  readonly normalExit: boolean;
  readonly checkpoint: Checkpoint;
  readonly notes: string[];
}

/** Throws LOG_DAMAGED when cutting the log at its valid end would lose records that were synced, unless it is told to. */
export function judgeBeforeCut(options: RecoverStoreOptions, found: FoundLog): void {
  const { files, paths, segments, queues, nowMs } = options;
  const { log, times, normalExit, checkpoint, notes } = found;
  const { physicMsgTimestamp } = checkpoint;
  const verdict = judgeEnd({
    log: segments,
    walk: log,
    times,
    normalExit,
    syncedMs: physicMsgTimestamp <= nowMs ? physicMsgTimestamp : 0,
    queuedEnd: () => lastQueuedEnd(queues),
  });
  if (verdict.kind === 'clean') return;
  if (verdict.kind === 'damaged') {
    const refusal = damagedLog(segments, verdict);
    if (options.truncateDamaged !== true) throw refusal;
    notes.push(`truncateDamagedLog: the log is cut all the same: ${refusal.message}`);
    // What it says was synced is no longer there; the next start would look for it.
    const upTo = (time: number): number => Math.min(time, times.newestMs);
    writeCheckpoint(files, paths.checkpoint, {
      physicMsgTimestamp: upTo(physicMsgTimestamp),
      logicsMsgTimestamp: upTo(checkpoint.logicsMsgTimestamp),
      indexMsgTimestamp: upTo(checkpoint.indexMsgTimestamp),
    });
  } else if (verdict.following !== undefined) {
    notes.push(`${verdict.where}; records from offset ${verdict.following.position} on were never synced: cut off`);
  }
}

/** Makes the valid end the log's end; notes what went. */
export function cutTail(segments: Segments, validEnd: number, notes: string[]): void {
  const removed = truncateTail(segments, validEnd);
  if (removed.length > 0) notes.push(`removed segments behind the log's valid end ${validEnd}: ${removed.join(', ')}`);
}

/** What a killed process wrote may be in the page cache only, and after a failed sync not even be marked as to be written. */
export function settleLog(options: RecoverStoreOptions, from: number, validEnd: number, notes: string[]): void {
  const { files, paths, segments } = options;
  const again = syncHasFailed(files, paths.abort);
  try {
    cutTail(segments, validEnd, notes);
    if (again) rewrite(segments, from, validEnd);
    syncFrom(segments, from);
  } catch (error) {
    noteFailure(options);
    throw error;
  }
  if (!again) return;
  clearSyncFailed(files, paths.abort);
  notes.push(`a sync of the log had failed: its records from offset ${from} on were written once more and synced`);
}

/** The error that led here says more than that it could not be noted. */
function noteFailure({ files, paths }: RecoverStoreOptions): void {
  try {
    markSyncFailed(files, paths.abort);
  } catch {
    // A disk on which even that fails is not believed by anybody.
  }
}
