import type { Clock } from '../../kernel/base/clock.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import type { Options } from '../../kernel/tokens.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import { indexLayout } from '../../store/index/layout.js';
import { recoverStore as recoverFiles, type RecoveredStore } from '../../store/recovery.js';
import type { StoreState } from './contract.js';

/** Brings the files into order and puts what they say into the words that the threads share, before any of them runs. */
export function recoverStore(state: StoreState, options: Options, clock: Clock): RecoveredStore {
  const { files, paths, log } = state;
  const segments = new Segments(files, log.dir, log.temporaryDir, log.segmentBytes);
  const queues = new QueueFiles({
    files,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
    openMax: options.queueFilesOpenMax,
    mode: 'readWrite',
    ext: state.queueExt,
  });
  try {
    const nowMs = clock.wallMs();
    const { checkCRCOnRecover: checkCrc, messageIndexEnable, messageIndexSafe: safe } = options;
    const index = { layout: indexLayout(options.maxHashSlotNum, options.maxIndexNum), safe };
    const stores = { files, paths, segments, queues };
    const recovered = recoverFiles({ ...stores, nowMs, checkCrc, ...(messageIndexEnable ? { index } : {}) });
    shareOffsets(state, recovered);
    return recovered;
  } finally {
    segments.close();
    queues.close();
  }
}

function shareOffsets(state: StoreState, recovered: RecoveredStore): void {
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
}
