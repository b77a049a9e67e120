import { recoverLog } from '../../store/commitlog/recovery.js';
import type { Segments } from '../../store/commitlog/segments.js';
import type { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { DispatchFields, isQueued, readDispatch } from '../../store/dispatch/read-dispatch.js';
import { UnitBatch } from '../../workers/reput/unit-batch.js';

export interface DispatchLogOptions {
  readonly delayLevels?: readonly number[];
  /** Records that are collected before their units are written. */
  readonly group?: number;
  readonly bitmap?: (queueOffset: number) => Uint8Array | undefined;
}

/** Dispatches what the log has from an offset on, as the worker does; returns the log's end. */
export function dispatchLog(
  segments: Segments,
  queues: QueueFiles,
  from: number,
  { delayLevels = [], group = 1, bitmap = () => undefined }: DispatchLogOptions = {},
): number {
  const fields = new DispatchFields(delayLevels);
  const batch = new UnitBatch(queues.ext?.enabled === true ? 0 : undefined);
  const rows: { topic: string; queueId: number }[] = [];
  const write = (): void =>
    batch.drain((row, firstOffset, bytes, byteLength, ext) => {
      const { topic, queueId } = rows[row] ?? { topic: '', queueId: -1 };
      queues.write(topic, queueId, firstOffset, bytes, byteLength, 0, ext);
    });
  let collected = 0;
  const end = recoverLog({
    segments,
    fromOffset: from,
    checkCrc: true,
    onRecord(buffer, offset, _size, physicalOffset) {
      const problem = readDispatch(buffer, offset, physicalOffset, fields);
      if (problem !== undefined) throw new Error(`at ${physicalOffset}: ${problem}`);
      if (!isQueued(fields.sysFlag)) return;
      const { topic, queueId, queueOffset, size, tagsHigh, tagsLow, storeTimestamp } = fields;
      const known = rows.findIndex((row) => row.topic === topic && row.queueId === queueId);
      const row = known < 0 ? rows.push({ topic, queueId }) - 1 : known;
      const add = (): boolean =>
        batch.add(row, queueOffset, physicalOffset, size, tagsHigh, tagsLow, storeTimestamp, bitmap(queueOffset));
      if (!add()) {
        write();
        add();
      }
      if (++collected % group === 0) write();
    },
  }).validEnd;
  write();
  return end;
}
