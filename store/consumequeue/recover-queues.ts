import { KernelError, systemCodeOf } from '../../kernel/base/errors.js';
import { checkSegments } from '../commitlog/segment-check.js';
import { checkExt } from './ext-cut.js';
import { hasFilesBehind, hasUnitsBehind } from './queue-cut.js';
import type { QueueFiles, QueueId } from './queue-files.js';
import { boundsWithin, type QueueBounds } from './queue-scan.js';

export interface RecoveredQueue extends QueueId, QueueBounds {}

export interface QueueRecovery {
  readonly queues: readonly RecoveredQueue[];
  /** Physical offset after the last dispatched record of any queue; -1 when there is none. */
  readonly maxPhysical: number;
  /** Where dispatching must begin to fill what was damaged; undefined when nothing was. */
  readonly rebuildFrom: number | undefined;
  /** What was found and done, for the log. */
  readonly notes: readonly string[];
}

export interface RecoverQueuesOptions {
  readonly queues: QueueFiles;
  /** The log's first offset and its valid end. */
  readonly physicalMin: number;
  readonly physicalEnd: number;
  /**
   * Called before anything is changed that dispatching from `physicalOffset` on must rebuild. It must see to it that a crash before
   * that is done begins there again: mark the store as running, set the checkpoint back.
   */
  readonly beforeRebuild: (physicalOffset: number) => void;
}

/** What one queue needs; found before anything is changed. */
interface Finding {
  readonly queue: QueueId;
  readonly bounds: QueueBounds;
  readonly emptyLast: string | undefined;
  /** The files cannot be used: they go and are built again from the log. */
  readonly damage: string | undefined;
  readonly behind: boolean;
}

/**
 * Makes all queues agree with a log that ends at `physicalEnd`. A damaged queue is no reason not to start: its files are built again
 * from the log (4.9 refuses a wrong size, and leaves a hole as the queue's end for good).
 */
export function recoverQueues(options: RecoverQueuesOptions): QueueRecovery {
  const { queues, physicalMin, physicalEnd } = options;
  const { queues: ids, skipped } = queues.list();
  const findings = ids.map((queue) => examine(options, queue));
  const notes = [...skipped];
  let rebuildFrom = Number.POSITIVE_INFINITY;
  for (const finding of findings) {
    if (isSound(queues, finding, physicalEnd)) continue;
    const from = finding.damage === undefined ? finding.bounds.lastPhysical : -1;
    rebuildFrom = Math.min(rebuildFrom, Math.max(physicalMin, from));
    notes.push(noteOf(finding));
  }
  if (rebuildFrom !== Number.POSITIVE_INFINITY) options.beforeRebuild(rebuildFrom);
  const recovered = findings.map((finding) => repair(queues, finding, physicalEnd));
  return {
    queues: recovered,
    maxPhysical: recovered.reduce((max, queue) => Math.max(max, queue.lastPhysical), -1),
    rebuildFrom: rebuildFrom === Number.POSITIVE_INFINITY ? undefined : rebuildFrom,
    notes,
  };
}

const NOTHING: QueueBounds = { minOffset: 0, maxOffset: 0, lastPhysical: -1 };

function examine({ queues, physicalMin, physicalEnd }: RecoverQueuesOptions, queue: QueueId): Finding {
  const { topic, queueId } = queue;
  try {
    const { emptyLast } = checkSegments(queues.files, queues.queueDir(topic, queueId), queues.fileBytes);
    const bounds = boundsWithin(queues, topic, queueId, physicalEnd);
    if (queues.ext?.enabled === true) checkExt(queues, queues.ext, queue, bounds, physicalMin);
    const behind = hasUnitsBehind(queues, topic, queueId, bounds.maxOffset);
    return { queue, bounds, emptyLast, damage: undefined, behind };
  } catch (error) {
    if (systemCodeOf(error) === 'ENOTDIR')
      throw new KernelError('STORE_LAYOUT', `${queues.queueDir(topic, queueId)} is a file, and must be a folder`, {
        cause: error,
        remedy: 'move the file away; the queue is built again from the log',
      });
    if (!(error instanceof KernelError)) throw error;
    return { queue, bounds: NOTHING, emptyLast: undefined, damage: error.message, behind: false };
  }
}

/** An empty last file may be a new one that a crash left, or one that lost its units: which, the log tells. */
function isSound(queues: QueueFiles, finding: Finding, physicalEnd: number): boolean {
  const { damage, emptyLast } = finding;
  return damage === undefined && emptyLast === undefined && !isHoled(queues, finding, physicalEnd);
}

/** Units behind the valid end that do not lie beyond the log's end: something before them was lost. */
function isHoled(queues: QueueFiles, finding: Finding, physicalEnd: number): boolean {
  if (!finding.behind) return false;
  const { topic, queueId } = finding.queue;
  const { lastPhysical } = queues.bounds(topic, queueId);
  return lastPhysical <= physicalEnd;
}

function noteOf(finding: Finding): string {
  const { topic, queueId } = finding.queue;
  if (finding.emptyLast !== undefined) return `${finding.emptyLast} is empty: built again from the commit log`;
  return finding.damage === undefined
    ? `queue ${topic}/${queueId} has a hole at offset ${finding.bounds.maxOffset}: rebuilt from the commit log from there on`
    : `queue ${topic}/${queueId} is removed and built again from the commit log: ${finding.damage}`;
}

function repair(queues: QueueFiles, finding: Finding, physicalEnd: number): RecoveredQueue {
  const { topic, queueId } = finding.queue;
  if (finding.damage !== undefined) {
    queues.removeQueue(topic, queueId);
    return { topic, queueId, ...NOTHING };
  }
  if (finding.emptyLast !== undefined) queues.files.remove(finding.emptyLast);
  if (finding.behind || hasFilesBehind(queues, topic, queueId, finding.bounds.maxOffset))
    queues.truncateBeyond(topic, queueId, physicalEnd);
  return { topic, queueId, ...finding.bounds };
}
