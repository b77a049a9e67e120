import { RECORD_TIME_BYTES } from '../../store/commitlog/record-layout.js';
import { storeTimeOf } from '../../store/commitlog/record-scan.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { offsetByTime } from '../../store/consumequeue/search.js';
import { UNIT_BYTES, unitPhysicalOffset } from '../../store/consumequeue/unit.js';
import { nodeFiles } from '../../store/files/node-files.js';

export interface SearchOffsetArgs {
  readonly topic: string;
  readonly queueId: number;
  /** Missing: the store time of the queue's first message is asked for, not an offset. */
  readonly timestampMs: number | undefined;
  /** Bounds of the queue in units. */
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly queueDir: string;
  readonly queueFileBytes: number;
  readonly temporaryDir: string;
  readonly logDir: string;
  readonly segmentBytes: number;
}

/** Finds a queue offset by store time, or the store time of the first message, in files that may lie cold. */
export default async function searchOffset(args: SearchOffsetArgs): Promise<number> {
  const { topic, queueId, minOffset, maxOffset, temporaryDir, timestampMs } = args;
  const segments = new Segments(nodeFiles, args.logDir, temporaryDir, args.segmentBytes);
  const queues = new QueueFiles({
    files: nodeFiles,
    dir: args.queueDir,
    temporaryDir,
    fileBytes: args.queueFileBytes,
    openMax: 8,
    mode: 'read',
  });
  const head = Buffer.alloc(RECORD_TIME_BYTES);
  const storeTimestamp = (offset: number): number => {
    const unit = offset < maxOffset ? queues.read(topic, queueId, offset, 1) : head.subarray(0, 0);
    if (unit.length < UNIT_BYTES) return -1;
    const physicalOffset = unitPhysicalOffset(unit, 0);
    return storeTimeOf(head, segments.read(head, 0, head.length, physicalOffset), physicalOffset);
  };
  try {
    if (timestampMs === undefined) return storeTimestamp(minOffset);
    const { fileBytes } = queues;
    return await offsetByTime({ minOffset, maxOffset, fileBytes, storeTimestamp }, timestampMs);
  } finally {
    segments.close();
    queues.close();
  }
}
