import { type QueueId, QueueFiles } from '../consumequeue/queue-files.js';
import { UNIT_BYTES } from '../consumequeue/unit.js';
import type { StoreFiles } from '../files/contract.js';
import type { StorePaths } from '../files/paths.js';
import { type AuditedFile, filesIn, sizeOfRows } from './file-audit.js';

export interface FoundQueue extends QueueId {
  readonly row: readonly AuditedFile[];
}

export interface FoundQueues {
  /** For reading; the caller closes it. */
  readonly queues: QueueFiles;
  /** The queues that have files. */
  readonly rows: readonly FoundQueue[];
  /** What is no queue's. */
  readonly skipped: readonly string[];
}

const OPEN_MAX = 256;

/** The queues of a store whose files may have any size: `fileBytes` when it is known, else what the files say. */
export function openQueues(files: StoreFiles, paths: StorePaths, fileBytes: number | undefined): FoundQueues {
  const place = { files, dir: paths.consumeQueue, temporaryDir: paths.temporary, mode: 'read' } as const;
  const named = new QueueFiles({ ...place, fileBytes: UNIT_BYTES, openMax: 1 });
  const { queues, skipped } = named.list();
  const rows = queues
    .map(({ topic, queueId }) => ({ topic, queueId, row: filesIn(files, named.queueDir(topic, queueId)).row }))
    .filter(({ row }) => row.length > 0);
  const found = fileBytes ?? sizeOfRows(rows.map(({ row }) => row)) ?? UNIT_BYTES;
  const whole = Math.max(UNIT_BYTES, found - (found % UNIT_BYTES));
  return { queues: new QueueFiles({ ...place, fileBytes: whole, openMax: OPEN_MAX }), rows, skipped };
}
