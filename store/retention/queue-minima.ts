import { messageOf } from '../../kernel/base/errors.js';
import type { QueueFiles } from '../consumequeue/queue-files.js';
import { minAbove, physicalOffsetOf } from '../consumequeue/queue-scan.js';
import { UNIT_BYTES } from '../consumequeue/unit.js';

/** A queue as the queue table has it. */
export interface QueueSpan {
  readonly row: number;
  readonly topic: string;
  readonly queueId: number;
  /** First offset still there, and the offset after the last dispatched one. */
  readonly minimum: number;
  readonly dispatched: number;
}

/** Where a queue begins now that the log begins later. */
export interface QueueMinimum {
  readonly row: number;
  readonly minimum: number;
  /** Files that hold nothing but older units are there. */
  readonly oldFiles: boolean;
}

export interface QueueMinima {
  /** The queues that do not stay as they are. */
  readonly moved: readonly QueueMinimum[];
  /** Queues that cannot be read, and why; they stay as they are, and stop no other. */
  readonly problems: readonly string[];
}

/**
 * First offset of each queue whose record the log still has, when it begins at `logMin`; the queue's end when all of its records are
 * gone. Looks at every unit it needs, in whichever file (4.9: ConsumeQueue#correctMinOffset looks at the first file only, and leaves
 * a queue of which nothing is left as it was).
 */
export function queueMinima(queues: QueueFiles, spans: readonly QueueSpan[], logMin: number): QueueMinima {
  const moved: QueueMinimum[] = [];
  const problems: string[] = [];
  for (const span of spans) {
    try {
      const minimum = minimumOf(queues, span, logMin);
      const oldFiles = hasFilesBelow(queues, span, minimum);
      if (minimum !== span.minimum || oldFiles) moved.push({ row: span.row, minimum, oldFiles });
    } catch (error) {
      problems.push(`${span.topic}/${span.queueId}: ${messageOf(error)}`);
    }
  }
  return { moved, problems };
}

function minimumOf(queues: QueueFiles, span: QueueSpan, logMin: number): number {
  const { topic, queueId, minimum, dispatched } = span;
  if (minimum >= dispatched || physicalOffsetOf(queues, topic, queueId, minimum) >= logMin) return minimum;
  return minAbove(queues, topic, queueId, logMin, { minOffset: minimum, maxOffset: dispatched });
}

/** Never counts the last file: a queue keeps it, and with it its place. */
function hasFilesBelow(queues: QueueFiles, { topic, queueId }: QueueSpan, minimum: number): boolean {
  if (minimum * UNIT_BYTES < queues.fileBytes) return false;
  const bases = queues.bases(topic, queueId);
  return bases.length > 1 && bases[0] + queues.fileBytes <= minimum * UNIT_BYTES;
}
