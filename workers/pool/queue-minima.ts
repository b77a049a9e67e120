import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { queueMinima, type QueueMinima, type QueueSpan } from '../../store/retention/queue-minima.js';

export interface QueueMinimaArgs {
  /** The folder `consumequeue`. */
  readonly dir: string;
  readonly temporaryDir: string;
  readonly fileBytes: number;
  readonly spans: readonly QueueSpan[];
  /** Physical offset of the first byte that stays. */
  readonly logMin: number;
}

/** A search in a queue stays in few files. */
const OPEN_MAX = 8;

/** Where queues begin when the log begins at `logMin`: some reads for each of them. */
export default function minima(args: QueueMinimaArgs, files: StoreFiles = nodeFiles): QueueMinima {
  const { dir, temporaryDir, fileBytes, spans, logMin } = args;
  const queues = new QueueFiles({ files, dir, temporaryDir, fileBytes, openMax: OPEN_MAX, mode: 'read' });
  try {
    return queueMinima(queues, spans, logMin);
  } finally {
    queues.close();
  }
}
