import { recoverLog } from '../../store/commitlog/recovery.js';
import type { Segments } from '../../store/commitlog/segments.js';
import type { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { UNIT_BYTES, writeUnit } from '../../store/consumequeue/unit.js';
import { DispatchFields, isQueued, readDispatch } from '../../store/dispatch/read-dispatch.js';

/** Dispatches what the log has from an offset on, one unit at a time; returns the log's end. */
export function dispatchLog(
  segments: Segments,
  queues: QueueFiles,
  from: number,
  delayLevels: readonly number[] = [],
): number {
  const fields = new DispatchFields(delayLevels);
  const unit = Buffer.alloc(UNIT_BYTES);
  return recoverLog({
    segments,
    fromOffset: from,
    checkCrc: true,
    onRecord(buffer, offset, _size, physicalOffset) {
      const problem = readDispatch(buffer, offset, physicalOffset, fields);
      if (problem !== undefined) throw new Error(`at ${physicalOffset}: ${problem}`);
      if (!isQueued(fields.sysFlag)) return;
      writeUnit(unit, 0, physicalOffset, fields.size, fields.tagsHigh, fields.tagsLow);
      queues.write(fields.topic, fields.queueId, fields.queueOffset, unit, UNIT_BYTES);
    },
  }).validEnd;
}
