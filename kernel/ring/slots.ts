/**
 * The hand-off ring: one producer thread, one consumer thread. Three shared parts:
 * - bytes: records, encoded by the producer, contiguous so that one `pwrite` takes a whole batch;
 * - slots: one per unit (a record, or the records of one batch request), Int32 words named below;
 * - cursors: two Int32 sequence numbers that wrap around.
 */
export const SlotWord = {
  /** producer: where the unit's bytes start in the ring. */
  start: 0,
  /** producer: bytes of the unit. */
  bytes: 1,
  /** producer: row of the queue table. */
  row: 2,
  /** producer: records in the unit. */
  records: 3,
  /** consumer: a SlotStatus. Everything else that the consumer found out stands in the record's own fields. */
  status: 4,
} as const;
export const WORDS_PER_SLOT = 8;

export const SlotStatus = {
  stored: 1,
  /** The unit can never fit a segment (B31). */
  tooLarge: 2,
  /** The disk has no room. */
  noSpace: 3,
  /** Any other failed write, undone. */
  writeFailed: 4,
  /** The log no longer takes writes: an earlier failure could not be undone, or a sync failed. */
  readOnly: 5,
} as const;
export type SlotStatus = (typeof SlotStatus)[keyof typeof SlotStatus];

export const Cursor = {
  /** producer: units handed over. */
  published: 0,
  /** consumer: units whose status and fields are final. */
  completed: 1,
} as const;

export interface RingMemory {
  readonly bytes: SharedArrayBuffer;
  readonly slots: SharedArrayBuffer;
  readonly cursors: SharedArrayBuffer;
}

/** `slotCount` must be a power of two: sequence numbers wrap at 2^32. */
export function allocateRing(ringBytes: number, slotCount: number): RingMemory {
  if ((slotCount & (slotCount - 1)) !== 0) throw new RangeError(`ringSlots must be a power of two, not ${slotCount}`);
  return {
    bytes: new SharedArrayBuffer(ringBytes),
    slots: new SharedArrayBuffer(slotCount * WORDS_PER_SLOT * Int32Array.BYTES_PER_ELEMENT),
    cursors: new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT),
  };
}
