import { markRunning, readCheckpoint, wasAborted, writeCheckpoint } from './checkpoint/checkpoint.js';
import { RECORD_TIME_BYTES } from './commitlog/record-layout.js';
import { storeTimeOf } from './commitlog/record-scan.js';
import { StoreTimes } from './commitlog/damage.js';
import { chooseRecoveryStart, recoverLog } from './commitlog/recovery.js';
import { cutTail, judgeBeforeCut, settleLog, walkLog } from './log-end.js';
import type { Segments } from './commitlog/segments.js';
import { cutExt, removeOrphans } from './consumequeue/ext-cut.js';
import type { QueueFiles, QueueId } from './consumequeue/queue-files.js';
import { type QueueRecovery, type RecoveredQueue, recoverQueues } from './consumequeue/recover-queues.js';
import type { StoreFiles } from './files/contract.js';
import type { IndexLayout } from './index/layout.js';
import { checkIndex } from './index/recover-index.js';
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
  /** Missing when there is to be no index; its files are left alone then. */
  readonly index?: {
    readonly layout: IndexLayout;
    /** The setting messageIndexSafe: recovery begins no later than where the index was synced. */
    readonly safe: boolean;
  };
  /** The setting truncateDamagedLog: cuts at damage even where that loses records that were synced. */
  readonly truncateDamaged?: boolean;
  /** Bytes of the log walked, of how many there may be at most; called about every two MiB. */
  readonly onProgress?: (done: number, total: number) => void;
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
  /** Where indexing begins, at or before `dispatchFrom`. */
  readonly indexFrom: number;
  readonly queues: readonly StoreQueue[];
  /** Records walked, and where the walk began. */
  readonly records: number;
  readonly scannedFrom: number;
  readonly firstDamage: string | undefined;
  /** Newest store time among the records walked, ms; 0 when there is none. All of them are synced now. */
  readonly newestMs: number;
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
  const notes = foreign.map((name) => `${segments.dir}/${name}: not a segment's name, left alone`);
  if (segments.count === 0) return emptyStore(options, normalExit, notes);
  const checkpoint = readCheckpoint(files, paths.checkpoint);
  const withIndex = options.index?.safe ?? false;
  const scannedFrom = chooseRecoveryStart({ segments, normalExit, checkpoint, nowMs: options.nowMs, withIndex });
  const ends = new QueueEnds();
  const times = new StoreTimes();
  const log = walkLog(options, scannedFrom, (buffer, offset, size, physicalOffset) => {
    ends.visit(buffer, offset, size, physicalOffset);
    times.visit(buffer, offset);
  });
  judgeBeforeCut(options, { log, times, normalExit, checkpoint, notes });
  clearTemporary(files, paths.temporary);
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
  // Also after a crash: a start that finds less missing must not begin behind what was taken away for this one.
  if (dispatchFrom < (normalExit ? log.validEnd : scannedFrom)) beforeRebuild(options, dispatchFrom);
  scanEarlier(segments, dispatchFrom, scannedFrom, ends, notes);
  const cut = cutQueues(queues, recovery.queues, ends, dispatchFrom, notes);
  const indexFrom = recoverIndex(options, normalExit, log.validEnd, scannedFrom, notes);
  return {
    normalExit,
    minOffset: segments.minOffset,
    validEnd: log.validEnd,
    dispatchFrom,
    indexFrom: Math.min(indexFrom, dispatchFrom),
    queues: mergeQueues(queues, cut, ends, segments.minOffset, dispatchFrom),
    records: log.records,
    scannedFrom,
    firstDamage: log.firstDamage,
    newestMs: times.newestMs,
    notes,
  };
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
  clearTemporary(options.files, options.paths.temporary);
  const topics = new Set(options.queues.list().queues.map((queue) => queue.topic));
  for (const topic of topics) options.queues.remove(topic);
  if (topics.size > 0) notes.push(`there is no commit log: the queues of ${topics.size} topics were removed`);
  recoverIndex(options, normalExit, 0, 0, notes);
  return {
    normalExit,
    minOffset: 0,
    validEnd: 0,
    dispatchFrom: 0,
    indexFrom: 0,
    queues: [],
    records: 0,
    scannedFrom: 0,
    firstDamage: undefined,
    newestMs: 0,
    notes,
  };
}

/**
 * Removes the index files that cannot be trusted, the last one first; returns where indexing begins. The mark that the store is in use
 * comes first: without it a second start would believe what is left. A stretch that is older than what recovery walks is built while
 * the broker serves; the other times of the checkpoint do not wait for it, or every recovery until then would walk all of the log.
 */
function recoverIndex(
  options: RecoverStoreOptions,
  normalExit: boolean,
  validEnd: number,
  scannedFrom: number,
  notes: string[],
): number {
  const { files, paths, segments, index } = options;
  if (index === undefined) {
    // An empty folder says that nothing was left out.
    if (files.exists(paths.index) && files.list(paths.index).length === 0) files.removeTree(paths.index);
    return validEnd;
  }
  const checkpoint = readCheckpoint(files, paths.checkpoint);
  const { indexMsgTimestamp: checkpointMs } = checkpoint;
  const check = { files, dir: paths.index, layout: index.layout, normalExit, checkpointMs, segments, validEnd };
  const found = checkIndex(check);
  notes.push(...found.notes);
  if (found.from < validEnd || found.doubtful.length > 0) {
    markRunning(files, paths.abort);
    if (checkpointMs > found.keptMs)
      writeCheckpoint(files, paths.checkpoint, { ...checkpoint, indexMsgTimestamp: found.keptMs });
    if (found.from < validEnd && found.from >= scannedFrom) beforeRebuild(options, found.from);
  }
  for (const path of [...found.doubtful].reverse()) files.remove(path);
  files.makeDir(paths.index);
  return found.from;
}

/** From now on a crash is followed by a start that dispatches from `physicalOffset` on again. */
function beforeRebuild(options: RecoverStoreOptions, physicalOffset: number): void {
  const { files, paths, segments } = options;
  markRunning(files, paths.abort);
  const checkpoint = readCheckpoint(files, paths.checkpoint);
  const storedAt = storeTimestampOf(segments, physicalOffset);
  const { logicsMsgTimestamp, queuesSyncedMs = 0 } = checkpoint;
  if (logicsMsgTimestamp <= storedAt && queuesSyncedMs <= storedAt) return;
  writeCheckpoint(files, paths.checkpoint, {
    ...checkpoint,
    logicsMsgTimestamp: Math.min(logicsMsgTimestamp, storedAt),
    queuesSyncedMs: Math.min(queuesSyncedMs, storedAt),
  });
}

/** When the record at an offset was stored, ms; 0 when there is none. */
function storeTimestampOf(segments: Segments, physicalOffset: number): number {
  const head = Buffer.alloc(RECORD_TIME_BYTES);
  return Math.max(0, storeTimeOf(head, segments.read(head, 0, head.length, physicalOffset), physicalOffset));
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

/**
 * Where an ext unit goes follows from the unit before its own: so units that are dispatched again are taken away first, and ext files
 * end with the units that are left. A queue whose records from there on are gone keeps its units.
 */
function cutQueues(
  queues: QueueFiles,
  recovered: readonly RecoveredQueue[],
  ends: QueueEnds,
  dispatchFrom: number,
  notes: string[],
): readonly RecoveredQueue[] {
  const { ext } = queues;
  if (ext?.enabled !== true) return recovered;
  notes.push(...removeOrphans(queues, ext));
  return recovered.map((queue) => {
    const { topic, queueId, lastPhysical } = queue;
    const again = lastPhysical > dispatchFrom && ends.get(topic, queueId) !== undefined;
    const bounds = again ? queues.truncateBeyond(topic, queueId, dispatchFrom) : queue;
    cutExt(queues, ext, topic, queueId, bounds.maxOffset);
    return { topic, queueId, ...bounds };
  });
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
