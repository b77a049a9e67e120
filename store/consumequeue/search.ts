import { UNIT_BYTES } from './unit.js';

/**
 * First offset in [low, high) whose value is at or above `wanted`, or `high`. Values grow with the offset; blank units, of value -1,
 * are passed over.
 */
export function firstAtOrAbove(valueAt: (offset: number) => number, low: number, high: number, wanted: number): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = from + Math.floor((to - from) / 2);
    let probe = middle;
    let value = valueAt(probe);
    while (value < 0 && probe > from) value = valueAt(--probe);
    if (value >= Math.max(0, wanted)) to = probe;
    else from = middle + 1;
  }
  return from;
}

export interface TimeSearch {
  /** Bounds of the queue, in units: first offset still in the log, and the offset after the last unit. */
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly fileBytes: number;
  /** When the message at a queue offset was stored, ms; negative when that cannot be told. */
  readonly storeTimestamp: (queueOffset: number) => Promise<number> | number;
}

/**
 * Queue offset of the message stored at `timestampMs`, or of the one whose store time is nearest; 0 when a store time cannot be
 * read. 4.9: ConsumeQueue#getOffsetInQueueByTime. That picks the file by its modification time; here it is the first whose last
 * message is not older, which is the same without depending on the file system.
 */
export async function offsetByTime(search: TimeSearch, timestampMs: number): Promise<number> {
  const { minOffset, maxOffset } = search;
  if (maxOffset <= minOffset) return minOffset;
  const unitsPerFile = search.fileBytes / UNIT_BYTES;
  for (let base = minOffset - (minOffset % unitsPerFile); ; base += unitsPerFile) {
    const last = Math.min(base + unitsPerFile, maxOffset) - 1;
    if (last === maxOffset - 1 || (await search.storeTimestamp(last)) >= timestampMs) {
      return searchFile(search, timestampMs, base, Math.max(minOffset, base), last);
    }
  }
}

/** Halves as 4.9 does, positions counted from the file's start, since equal times make the way to the middle matter. */
async function searchFile(
  search: TimeSearch,
  timestampMs: number,
  base: number,
  first: number,
  last: number,
): Promise<number> {
  let low = first - base;
  let high = last - base;
  let left = -1;
  let right = -1;
  let leftTime = -1;
  let rightTime = -1;
  while (high >= low) {
    const middle = Math.floor((low + high) / 2);
    const time = await search.storeTimestamp(base + middle);
    if (time < 0) return 0;
    if (time === timestampMs) return base + middle;
    if (time > timestampMs) {
      high = middle - 1;
      right = middle;
      rightTime = time;
    } else {
      low = middle + 1;
      left = middle;
      leftTime = time;
    }
  }
  if (left < 0) return base + right;
  if (right < 0) return base + left;
  return base + (Math.abs(timestampMs - leftTime) > Math.abs(timestampMs - rightTime) ? right : left);
}
