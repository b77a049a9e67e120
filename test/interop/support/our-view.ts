import { queueFileBytes, segmentBytes } from './store-folder.js';
import { systemClock } from '../../../kernel/base/clock.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import { nodeFiles } from '../../../store/files/node-files.js';
import { storePaths } from '../../../store/files/paths.js';
import { recoverStore, type RecoveredStore } from '../../../store/recovery.js';

/** What our recovery makes of a store, without a broker around it. It changes the files: give it a copy. */
export function recoverHere(storeDir: string): RecoveredStore {
  const paths = storePaths(storeDir);
  const segments = new Segments(nodeFiles, paths.commitLog, paths.temporary, segmentBytes);
  const queues = new QueueFiles({
    files: nodeFiles,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: queueFileBytes,
    openMax: 64,
    mode: 'readWrite',
  });
  try {
    const nowMs = systemClock.wallMs();
    return recoverStore({ files: nodeFiles, paths, segments, queues, nowMs, checkCrc: true });
  } finally {
    segments.close();
    queues.close();
  }
}
