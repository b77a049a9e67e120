/**
 * An IndexFile (4.9: IndexFile, IndexHeader), all numbers big-endian, always at its full size:
 *
 *    0  int64  store time of the first entry, ms        24  int64  physical offset of the last record
 *    8  int64  store time of the last entry, ms         32  int32  slots in use
 *   16  int64  physical offset of the first record      36  int32  number of the next entry; the first is 1
 *   40  int32 × slots: number of the slot's newest entry, 0 for none
 *       20 bytes × entries: int32 hash, int64 physical offset, int32 seconds since the first entry, int32 the slot's entry before
 */
import { readInt64, writeInt64 } from '../../protocol/int64.js';

export const INDEX_HEADER_BYTES = 40;
export const SLOT_BYTES = 4;
export const ENTRY_BYTES = 20;
export const ENTRY_OFFSET_AT = 4;
export const ENTRY_SECONDS_AT = 12;
export const ENTRY_BEFORE_AT = 16;
export const SECONDS_MAX = 0x7fffffff;

/** Sizes of every file of an index; another size is another index (4.9: maxHashSlotNum, maxIndexNum). */
export interface IndexLayout {
  readonly slots: number;
  /** Numbers that entries can have; number 0 is never used, so one less fits in. */
  readonly entries: number;
  readonly fileBytes: number;
}

export function indexLayout(slots: number, entries: number): IndexLayout {
  return { slots, entries, fileBytes: INDEX_HEADER_BYTES + slots * SLOT_BYTES + entries * ENTRY_BYTES };
}

/** Where an entry stands in its file. */
export function entryAt(layout: IndexLayout, number: number): number {
  return INDEX_HEADER_BYTES + layout.slots * SLOT_BYTES + number * ENTRY_BYTES;
}

export interface IndexHeader {
  beginTimestamp: number;
  endTimestamp: number;
  beginPhysical: number;
  endPhysical: number;
  slotsUsed: number;
  /** Number that the next entry gets. */
  next: number;
}

export function emptyHeader(): IndexHeader {
  return { beginTimestamp: 0, endTimestamp: 0, beginPhysical: 0, endPhysical: 0, slotsUsed: 0, next: 1 };
}

/** The header that a file begins with: it stands where the full one before it ended (4.9: IndexFile's constructor). */
export function headerAfter({ endPhysical, endTimestamp }: IndexHeader): IndexHeader {
  const physical = Math.max(0, endPhysical);
  const timestamp = Math.max(0, endTimestamp);
  return {
    ...emptyHeader(),
    beginTimestamp: timestamp,
    endTimestamp: timestamp,
    beginPhysical: physical,
    endPhysical: physical,
  };
}

/** A count of 0 or less reads as none (4.9: IndexHeader#load). */
export function readIndexHeader(bytes: Buffer): IndexHeader {
  const next = bytes.readInt32BE(36);
  return {
    beginTimestamp: readInt64(bytes, 0),
    endTimestamp: readInt64(bytes, 8),
    beginPhysical: readInt64(bytes, 16),
    endPhysical: readInt64(bytes, 24),
    slotsUsed: bytes.readInt32BE(32),
    next: next <= 0 ? 1 : next,
  };
}

export function indexHeaderBytes(header: IndexHeader): Buffer {
  const bytes = Buffer.alloc(INDEX_HEADER_BYTES);
  writeInt64(bytes, header.beginTimestamp, 0);
  writeInt64(bytes, header.endTimestamp, 8);
  writeInt64(bytes, header.beginPhysical, 16);
  writeInt64(bytes, header.endPhysical, 24);
  bytes.writeInt32BE(header.slotsUsed, 32);
  bytes.writeInt32BE(header.next, 36);
  return bytes;
}

/** Seconds that an entry says (4.9: IndexFile#putKey); a first entry counts from where the file before ended. */
export function entrySeconds(beginTimestamp: number, storeTimestamp: number): number {
  if (beginTimestamp <= 0) return 0;
  return Math.min(SECONDS_MAX, Math.max(0, Math.trunc((storeTimestamp - beginTimestamp) / 1000)));
}
