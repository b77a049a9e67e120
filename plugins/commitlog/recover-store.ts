import type { Clock } from '../../kernel/base/clock.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import type { Options } from '../../kernel/tokens.js';
import { openFilesMax } from '../../store/files/descriptors.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import { indexLayout } from '../../store/index/layout.js';
import { recoverStore as recoverFiles, type RecoveredStore } from '../../store/recovery.js';
import type { StoreState } from './contract.js';

/** Of the files that the process may have open. */
const RECOVERY_SHARE = 1 / 2;

/** Brings the files into order and puts what they say into the words that the threads share, before any of them runs. */
export function recoverStore(
  state: StoreState,
  options: Options,
  clock: Clock,
  onProgress: (done: number, total: number) => void = () => undefined,
): RecoveredStore {
  const { files, paths, log } = state;
  const segments = new Segments(files, log.dir, log.temporaryDir, log.segmentBytes);
  const queues = new QueueFiles({
    files,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
    openMax: openFilesMax(options.queueFilesOpenMax, RECOVERY_SHARE),
    mode: 'readWrite',
    ext: state.queueExt,
  });
  try {
    const nowMs = clock.wallMs();
    const { checkCRCOnRecover: checkCrc, truncateDamagedLog: truncateDamaged, messageIndexEnable } = options;
    const layout = indexLayout(options.maxHashSlotNum, options.maxIndexNum);
    const index = messageIndexEnable ? { index: { layout, safe: options.messageIndexSafe } } : {};
    const stores = { files, paths, segments, queues };
    const recovered = recoverFiles({ ...stores, nowMs, checkCrc, truncateDamaged, onProgress, ...index });
    shareOffsets(state, recovered, nowMs);
    return recovered;
  } finally {
    segments.close();
    queues.close();
  }
}

function shareOffsets(state: StoreState, recovered: RecoveredStore, nowMs: number): void {
  const { queueTable, watermarks } = state;
  for (const { topic, queueId, minOffset, maxOffset, nextOffset } of recovered.queues) {
    const row = queueTable.register(topic, queueId);
    queueTable.set(row, QueueWord.minimum, minOffset);
    queueTable.set(row, QueueWord.dispatched, maxOffset);
    queueTable.set(row, QueueWord.next, nextOffset);
  }
  watermarks.reset(Watermark.logMin, recovered.minOffset);
  watermarks.reset(Watermark.appended, recovered.validEnd);
  watermarks.reset(Watermark.flushed, recovered.validEnd);
  watermarks.reset(Watermark.dispatched, recovered.dispatchFrom);
  watermarks.reset(Watermark.indexed, recovered.indexFrom);
  state.indexInBackground = recovered.indexFrom < recovered.scannedFrom;
  // A checkpoint without it would forget what was synced before this start. One in the future would not be believed.
  const syncedMs = recovered.newestMs <= nowMs ? recovered.newestMs : 0;
  watermarks.reset(Watermark.appendedTimeMs, syncedMs);
  watermarks.reset(Watermark.flushedTimeMs, syncedMs);
}
