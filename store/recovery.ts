import {
  clearSyncFailed,
  markRunning,
  markSyncFailed,
  readCheckpoint,
  syncHasFailed,
  wasAborted,
  writeCheckpoint,
} from './checkpoint/checkpoint.js';
import { readInt64 } from '../protocol/int64.js';
import { PHYSICAL_OFFSET_AT, storeTimestampAt, SYS_FLAG_AT } from '../protocol/message/record.js';
import { chooseRecoveryStart, recoverLog, rewrite, syncFrom, truncateTail } from './commitlog/recovery.js';
import type { Segments } from './commitlog/segments.js';
import type { QueueFiles, QueueId } from './consumequeue/queue-files.js';
import { type QueueRecovery, type RecoveredQueue, recoverQueues } from './consumequeue/recover-queues.js';
import type { StoreFiles } from './files/contract.js';
import { clearTemporary, type StorePaths } from './files/paths.js';
import { isStale, type QueueEnd, QueueEnds } from './dispatch/queue-ends.js';

export interface RecoverStoreOptions {
  readonly files: StoreFiles;
  readonly paths: StorePaths;
  /** For writing; opened here. */
  readonly segments: Segments;
  /** For writing. */
  readonly queues: QueueFiles;
  /** Wall clock, ms. */
  readonly nowMs: number;
  /** The setting checkCRCOnRecover. */
  readonly checkCrc: boolean;
}

export interface StoreQueue extends QueueId {
  /** First queue offset whose record the log still has. */
  readonly minOffset: number;
  /** Queue offset after the last dispatched unit. */
  readonly maxOffset: number;
  /** What the next record of the queue gets; above `maxOffset` when records wait to be dispatched. */
  readonly nextOffset: number;
}

export interface RecoveredStore {
  readonly normalExit: boolean;
  readonly minOffset: number;
  /** Where the next record goes; all before it is synced. */
  readonly validEnd: number;
  /** Where dispatching begins; doing again what was done changes nothing. */
  readonly dispatchFrom: number;
  readonly queues: readonly StoreQueue[];
  /** Records walked, and where the walk began. */
  readonly records: number;
  readonly scannedFrom: number;
  readonly firstDamage: string | undefined;
  /** Lines for the log: what was damaged, removed, skipped. */
  readonly notes: readonly string[];
}

/**
 * Brings a store into order before anything is served: the log is cut behind its last whole record, the queues made to agree with it.
 * Take the lock first. Throws KernelError when files are missing or of the wrong size; nothing is changed then. Call `markRunning`
 * before the first write after it. 4.9: DefaultMessageStore#load, #recover, #start
 */
export function recoverStore(options: RecoverStoreOptions): RecoveredStore {
  const { files, paths, segments, queues } = options;
  const normalExit = !wasAborted(files, paths.abort);
  const { foreign } = segments.open('readWrite');
  clearTemporary(files, paths.temporary);
  const notes = foreign.map((name) => `${segments.dir}/${name}: not a segment's name, left alone`);
  if (segments.count === 0) return emptyStore(options, normalExit, notes);
  const scannedFrom = chooseRecoveryStart({
    segments,
    normalExit,
    checkpoint: readCheckpoint(files, paths.checkpoint),
    nowMs: options.nowMs,
  });
  const ends = new QueueEnds();
  const log = recoverLog({ segments, fromOffset: scannedFrom, checkCrc: options.checkCrc, onRecord: ends.visit });
  if (normalExit) cutTail(segments, log.validEnd, notes);
  else settleLog(options, scannedFrom, log.validEnd, notes);
  const recovery = recoverQueues({
    queues,
    physicalMin: segments.minOffset,
    physicalEnd: log.validEnd,
    beforeRebuild: (physicalOffset) => beforeRebuild(options, physicalOffset),
  });
  notes.push(...recovery.notes);
  const behind = ends.missingFrom(recovery.queues, segments.minOffset);
  const dispatchFrom = Math.min(
    normalExit ? dispatchedBefore(recovery, segments.minOffset, log.validEnd) : scannedFrom,
    recovery.rebuildFrom ?? log.validEnd,
    behind ?? log.validEnd,
  );
  if (normalExit && dispatchFrom < log.validEnd) beforeRebuild(options, dispatchFrom);
  scanEarlier(segments, dispatchFrom, scannedFrom, ends, notes);
  return {
    normalExit,
    minOffset: segments.minOffset,
    validEnd: log.validEnd,
    dispatchFrom,
    queues: mergeQueues(queues, recovery.queues, ends, segments.minOffset, dispatchFrom),
    records: log.records,
    scannedFrom,
    firstDamage: log.firstDamage,
    notes,
  };
}

function cutTail(segments: Segments, validEnd: number, notes: string[]): void {
  const removed = truncateTail(segments, validEnd);
  if (removed.length > 0) notes.push(`removed segments behind the log's valid end ${validEnd}: ${removed.join(', ')}`);
}

/** What a killed process wrote may be in the page cache only, and after a failed sync not even be marked as to be written. */
function settleLog(options: RecoverStoreOptions, from: number, validEnd: number, notes: string[]): void {
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

/**
 * A run that ended normally had dispatched everything: beginning behind the last unit, as 4.9 does, would bring back the queues of a
 * topic that was deleted since. Without any queue all are to be built, which is how people repair a store.
 */
function dispatchedBefore(recovery: QueueRecovery, minOffset: number, validEnd: number): number {
  return recovery.queues.length === 0 ? minOffset : validEnd;
}

/** 4.9: without a commit log there are no queues either (CommitLog#recoverNormally, DefaultMessageStore#destroyLogics). */
function emptyStore(options: RecoverStoreOptions, normalExit: boolean, notes: string[]): RecoveredStore {
  const topics = new Set(options.queues.list().queues.map((queue) => queue.topic));
  for (const topic of topics) options.queues.remove(topic);
  if (topics.size > 0) notes.push(`there is no commit log: the queues of ${topics.size} topics were removed`);
  return {
    normalExit,
    minOffset: 0,
    validEnd: 0,
    dispatchFrom: 0,
    queues: [],
    records: 0,
    scannedFrom: 0,
    firstDamage: undefined,
    notes,
  };
}

/** From now on a crash is followed by a start that dispatches from `physicalOffset` on again. */
function beforeRebuild(options: RecoverStoreOptions, physicalOffset: number): void {
  const { files, paths, segments } = options;
  markRunning(files, paths.abort);
  const checkpoint = readCheckpoint(files, paths.checkpoint);
  const storedAt = storeTimestampOf(segments, physicalOffset);
  if (checkpoint.logicsMsgTimestamp <= storedAt) return;
  writeCheckpoint(files, paths.checkpoint, { ...checkpoint, logicsMsgTimestamp: storedAt });
}

/** When the record at an offset was stored, ms; 0 when there is none. */
function storeTimestampOf(segments: Segments, physicalOffset: number): number {
  const head = Buffer.alloc(96);
  segments.read(head, 0, head.length, physicalOffset);
  if (readInt64(head, PHYSICAL_OFFSET_AT) !== physicalOffset) return 0;
  return Math.max(0, readInt64(head, storeTimestampAt(head.readInt32BE(SYS_FLAG_AT))));
}

/** Dispatching begins before what recovery walked: the queues that end there must be known, too. Damage there is passed over. */
function scanEarlier(segments: Segments, from: number, until: number, ends: QueueEnds, notes: string[]): void {
  const earlier = new QueueEnds();
  for (let at = from; at < until;) {
    const walk = recoverLog({ segments, fromOffset: at, untilOffset: until, checkCrc: false, onRecord: earlier.visit });
    if (walk.validEnd >= until) break;
    notes.push(
      `the log is damaged, the rest of the segment is passed over: ${walk.firstDamage ?? `nothing at ${walk.validEnd}`}`,
    );
    at = walk.validEnd - (walk.validEnd % segments.segmentBytes) + segments.segmentBytes;
  }
  ends.addEarlier(earlier);
}

/** The queues that have files, and those that will have some once the records from `dispatchFrom` on are dispatched. */
function mergeQueues(
  files: QueueFiles,
  recovered: readonly RecoveredQueue[],
  ends: QueueEnds,
  minPhysical: number,
  dispatchFrom: number,
): StoreQueue[] {
  const known = new Set<string>();
  const merged = recovered.map((queue): StoreQueue => {
    const { topic, queueId } = queue;
    known.add(`${topic}/${queueId}`);
    const end = ends.get(topic, queueId);
    if (end !== undefined && (queue.lastPhysical < 0 || isStale(queue, end))) return waiting(end);
    const minOffset = files.minAbove(topic, queueId, minPhysical, queue);
    const nextOffset = end?.nextOffset ?? queue.maxOffset;
    return { topic, queueId, minOffset, maxOffset: Math.min(queue.maxOffset, nextOffset), nextOffset };
  });
  for (const end of ends.all()) {
    if (end.lastPhysical >= dispatchFrom && !known.has(`${end.topic}/${end.queueId}`)) merged.push(waiting(end));
  }
  return merged;
}

/** A queue of which nothing is dispatched yet. */
function waiting(end: QueueEnd): StoreQueue {
  const { topic, queueId, firstQueueOffset, nextOffset } = end;
  return { topic, queueId, minOffset: firstQueueOffset, maxOffset: firstQueueOffset, nextOffset };
}
