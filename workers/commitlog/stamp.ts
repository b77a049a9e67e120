import { KernelError } from '../../kernel/base/errors.js';
import { setInt64 } from '../../protocol/int64.js';
import { PHYSICAL_OFFSET_AT, QUEUE_OFFSET_AT, SYS_FLAG_AT, storeTimestampAt } from '../../protocol/message/record.js';
import { RECORD_BYTES_MIN } from '../../store/commitlog/record-layout.js';
import { isQueued } from '../../store/dispatch/read-dispatch.js';
import type { NextOffsets } from './next-offsets.js';

/**
 * Writes what only the log knows into each record of a unit: queue offset, physical offset, store time (4.9: doAppend of
 * CommitLog's DefaultAppendMessageCallback). Prepared and rolled-back records take no queue offset. Throws when the records do not fill
 * the unit: in the log nobody would find the next one (B05).
 */
export function stampUnit(
  view: DataView,
  start: number,
  bytes: number,
  physicalOffset: number,
  storeTimeMs: number,
  row: number,
  offsets: NextOffsets,
): void {
  const timeHigh = Math.floor(storeTimeMs / 0x1_0000_0000);
  const timeLow = storeTimeMs >>> 0;
  const end = start + bytes;
  for (let at = start; at < end;) {
    const size = view.getInt32(at);
    if (size < RECORD_BYTES_MIN || at + size > end)
      throw new KernelError('RING_UNIT', `a record of ${size} bytes at ${at - start} in a unit of ${bytes}`);
    const sysFlag = view.getInt32(at + SYS_FLAG_AT);
    const queueOffset = isQueued(sysFlag) ? offsets.take(row, 1) : 0;
    setInt64(view, at + QUEUE_OFFSET_AT, queueOffset);
    setInt64(view, at + PHYSICAL_OFFSET_AT, physicalOffset + (at - start));
    const time = at + storeTimestampAt(sysFlag);
    view.setInt32(time, timeHigh);
    view.setInt32(time + 4, timeLow);
    at += size;
  }
}
