import type { Clock } from '../../kernel/base/clock.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import type { Options } from '../../kernel/tokens.js';
import {
  markRunning,
  NO_CHECKPOINT,
  readCheckpoint,
  wasAborted,
  writeCheckpoint,
} from '../../store/checkpoint/checkpoint.js';
import { chooseRecoveryStart, recoverLog, truncateTail } from '../../store/commitlog/recovery.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { recoverQueues, type QueueRecovery } from '../../store/consumequeue/recover-queues.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import { DispatchFields, isQueued, readDispatch } from '../../store/dispatch/read-dispatch.js';
import type { StoreState } from './contract.js';

export interface Recovered {
  readonly normalExit: boolean;
  readonly logStart: number;
  readonly logEnd: number;
  readonly dispatchFrom: number;
  readonly queues: number;
  /** What was found and mended, one line each. */
  readonly notes: readonly string[];
}

/** Offset after the last record of each queue that was seen in the log, by topic and queue id. */
type SeenOffsets = Map<string, Map<number, number>>;

/**
 * Finds the log's valid end, cuts what stands behind it, makes the queues agree with it and gives each its offsets: from its files,
 * and from the records that will be dispatched again (4.9: DefaultMessageStore#recover). Dispatching from `dispatchFrom` on is the
 * reput worker's.
 */
export function recoverStore(state: StoreState, options: Options, clock: Clock): Recovered {
  const { files, paths, log } = state;
  const segments = new Segments(files, log.dir, log.temporaryDir, log.segmentBytes);
  const queues = new QueueFiles({
    files,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
    openMax: options.queueFilesOpenMax,
    mode: 'readWrite',
  });
  try {
    segments.open('readWrite');
    const normalExit = !wasAborted(files, paths.abort);
    const checkpoint = readCheckpoint(files, paths.checkpoint);
    const start = chooseRecoveryStart({ segments, normalExit, checkpoint, nowMs: clock.wallMs() });
    const seen: SeenOffsets = new Map();
    const { validEnd, firstDamage } = walk(segments, start, options.checkCRCOnRecover, seen);
    truncateTail(segments, validEnd);
    const recovery = recoverQueues({
      queues,
      physicalMin: segments.minOffset,
      physicalEnd: validEnd,
      beforeRebuild: () => {
        markRunning(files, paths.abort);
        writeCheckpoint(files, paths.checkpoint, NO_CHECKPOINT);
      },
    });
    const reach = Math.max(segments.minOffset, recovery.maxPhysical);
    const dispatchFrom = Math.min(start, reach, recovery.rebuildFrom ?? reach);
    if (dispatchFrom < start) walk(segments, dispatchFrom, false, seen);
    syncFrom(segments, dispatchFrom);
    registerQueues(state, recovery, seen);
    resetWatermarks(state, segments.minOffset, validEnd, dispatchFrom);
    const notes = firstDamage === undefined ? recovery.notes : [firstDamage, ...recovery.notes];
    const { count } = state.queueTable;
    return { normalExit, logStart: segments.minOffset, logEnd: validEnd, dispatchFrom, queues: count, notes };
  } finally {
    segments.close();
    queues.close();
  }
}

function walk(
  segments: Segments,
  fromOffset: number,
  checkCrc: boolean,
  seen: SeenOffsets,
): ReturnType<typeof recoverLog> {
  const fields = new DispatchFields([]);
  return recoverLog({
    segments,
    fromOffset,
    checkCrc,
    onRecord(buffer, at, _size, physicalOffset) {
      if (readDispatch(buffer, at, physicalOffset, fields) !== undefined || !isQueued(fields.sysFlag)) return;
      let queues = seen.get(fields.topic);
      if (queues === undefined) seen.set(fields.topic, (queues = new Map()));
      queues.set(fields.queueId, Math.max(queues.get(fields.queueId) ?? 0, fields.queueOffset + 1));
    },
  });
}

/** What a killed process had written is in the page cache only: what counts as flushed from now on is synced first. */
function syncFrom(segments: Segments, from: number): void {
  for (const base of segments.bases())
    if (base + segments.segmentBytes > from) segments.fileAt(base, 'readWrite')?.file.sync();
}

function registerQueues(state: StoreState, recovery: QueueRecovery, seen: SeenOffsets): void {
  const { queueTable } = state;
  for (const { topic, queueId, minOffset, maxOffset } of recovery.queues) {
    const row = queueTable.register(topic, queueId);
    queueTable.set(row, QueueWord.minimum, minOffset);
    queueTable.set(row, QueueWord.dispatched, maxOffset);
    queueTable.set(row, QueueWord.next, maxOffset);
  }
  for (const [topic, queues] of seen)
    for (const [queueId, next] of queues) {
      const row = queueTable.register(topic, queueId);
      if (next > queueTable.get(row, QueueWord.next)) queueTable.set(row, QueueWord.next, next);
    }
}

function resetWatermarks(state: StoreState, logMin: number, logEnd: number, dispatchFrom: number): void {
  const { watermarks } = state;
  watermarks.reset(Watermark.logMin, logMin);
  watermarks.reset(Watermark.appended, logEnd);
  watermarks.reset(Watermark.flushed, logEnd);
  watermarks.reset(Watermark.dispatched, dispatchFrom);
}
