import { assert } from '../../kernel/base/assert.js';
import type { StoreFile } from '../files/contract.js';
import { BLANK_BYTES_MIN, BLANK_MAGIC } from '../../protocol/message/record.js';

/**
 * True when a record fits at `position` (a physical offset) into the segment that begins at `base`. Behind it there must always be
 * room for a filler (4.9: END_FILE_MIN_BLANK_LENGTH).
 */
export function roomFor(recordBytes: number, position: number, base: number, segmentBytes: number): boolean {
  return recordBytes + BLANK_BYTES_MIN <= base + segmentBytes - position;
}

/**
 * Ends a segment at `position` (a physical offset): eight bytes say that the rest of it holds nothing. The next record begins in the
 * next segment. Returns the offset where that is.
 */
export function writeFiller(file: StoreFile, base: number, position: number, segmentBytes: number): number {
  const remaining = base + segmentBytes - position;
  assert(
    remaining >= BLANK_BYTES_MIN && remaining <= segmentBytes,
    `no room for a filler at ${position} in segment ${base}`,
  );
  const filler = Buffer.allocUnsafe(BLANK_BYTES_MIN);
  filler.writeInt32BE(remaining, 0);
  filler.writeInt32BE(BLANK_MAGIC, 4);
  file.write(filler, 0, BLANK_BYTES_MIN, position - base);
  return base + segmentBytes;
}
