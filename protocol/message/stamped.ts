import { PHYSICAL_OFFSET_AT, QUEUE_OFFSET_AT, SYS_FLAG_AT, storeTimestampAt } from './record.js';

/** What the log's writer stamped into the record at `at`, read where it lies. */
export function queueOffsetAt(view: DataView, at: number): number {
  return int64(view, at + QUEUE_OFFSET_AT);
}

export function physicalOffsetAt(view: DataView, at: number): number {
  return int64(view, at + PHYSICAL_OFFSET_AT);
}

export function storeTimeAt(view: DataView, at: number): number {
  return int64(view, at + storeTimestampAt(view.getInt32(at + SYS_FLAG_AT)));
}

function int64(view: DataView, at: number): number {
  return view.getInt32(at) * 0x1_0000_0000 + view.getUint32(at + 4);
}
