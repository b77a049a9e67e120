import { readInt64 } from '../../protocol/int64.js';
import { crc32 } from '../../protocol/message/crc.js';
import {
  BLANK_BYTES_MIN,
  BLANK_MAGIC,
  bodySizeAt,
  BODY_CRC_AT,
  MAGIC_AT,
  MESSAGE_MAGIC,
  PHYSICAL_OFFSET_AT,
  PROPERTIES_BYTES_MAX,
  storeTimestampAt,
  SYS_FLAG_AT,
  TOPIC_BYTES_MAX,
  TOTAL_SIZE_AT,
} from '../../protocol/message/record.js';
import { RECORD_BYTES_MIN, RECORD_HEAD_BYTES, RECORD_TIME_BYTES } from './record-layout.js';

/** What `scanRecord` answers beside sizes: it must see more bytes; no record begins here. */
export const NEED_MORE = 0;
export const DAMAGED = -1;

/**
 * Looks at what begins at `offset` of a buffer with `available` bytes from there on. Returns
 * - the record's whole size (> 0) when its head is valid; the caller checks that all of it is in the buffer,
 * - the filler's size, negated (≤ -8): the rest of the segment,
 * - NEED_MORE (0) when fewer bytes are there than tell (8 for a filler, 36 for a record),
 * - DAMAGED (-1) else, also where zeros say that nothing was written yet.
 */
export function scanRecord(buffer: Buffer, offset: number, available: number, physicalOffset: number): number {
  if (available < BLANK_BYTES_MIN) return NEED_MORE;
  const size = buffer.readInt32BE(offset + TOTAL_SIZE_AT);
  const magic = buffer.readInt32BE(offset + MAGIC_AT);
  if (magic === BLANK_MAGIC) return size >= BLANK_BYTES_MIN ? -size : DAMAGED;
  if (magic !== MESSAGE_MAGIC || size < RECORD_BYTES_MIN) return DAMAGED;
  if (available < RECORD_HEAD_BYTES) return NEED_MORE;
  return readInt64(buffer, offset + PHYSICAL_OFFSET_AT) === physicalOffset ? size : DAMAGED;
}

/**
 * Why the bytes at `offset` are not a whole valid record that was stored at `physicalOffset`, or undefined when they are. All of the
 * record must be in the buffer. 4.9: CommitLog#checkMessageAndReturnSize, and that the record lies where it says.
 */
export function checkRecord(
  buffer: Buffer,
  offset: number,
  physicalOffset: number,
  options: { readonly crc: boolean },
): string | undefined {
  const available = buffer.length - offset;
  if (available < RECORD_BYTES_MIN) return `${available} bytes are too few for a record`;
  const size = buffer.readInt32BE(offset + TOTAL_SIZE_AT);
  const magic = buffer.readInt32BE(offset + MAGIC_AT);
  if (magic !== MESSAGE_MAGIC) return `magic 0x${(magic >>> 0).toString(16)} is not a record's`;
  if (size < RECORD_BYTES_MIN || size > available) return `size ${size} does not fit`;
  const stored = readInt64(buffer, offset + PHYSICAL_OFFSET_AT);
  if (stored !== physicalOffset) return `it says that it was stored at ${stored}`;
  return checkLengths(buffer, offset, size) ?? (options.crc ? checkCrc(buffer, offset) : undefined);
}

function checkLengths(buffer: Buffer, offset: number, size: number): string | undefined {
  const bodyAt = bodySizeAt(buffer.readInt32BE(offset + SYS_FLAG_AT));
  if (bodyAt + 7 > size) return `size ${size} is too small for its hosts`;
  const bodyLength = buffer.readInt32BE(offset + bodyAt);
  const topicAt = bodyAt + 4 + bodyLength;
  if (bodyLength < 0 || topicAt + 3 > size) return `body length ${bodyLength} does not fit size ${size}`;
  const topicLength = buffer.readUInt8(offset + topicAt);
  const propertiesAt = topicAt + 1 + topicLength;
  if (topicLength > TOPIC_BYTES_MAX || propertiesAt + 2 > size)
    return `topic length ${topicLength} does not fit size ${size}`;
  // No checksum covers the topic: of a record that a crash cut short it may be what was never written.
  for (let at = offset + topicAt + 1; at < offset + propertiesAt; at += 1) {
    if (buffer[at] === 0) return 'its topic holds a zero byte';
  }
  const propertiesLength = buffer.readInt16BE(offset + propertiesAt);
  if (propertiesLength < 0 || propertiesAt + 2 + propertiesLength !== size) {
    return `properties length ${propertiesLength} does not fit size ${size}`;
  }
  return undefined;
}

function checkCrc(buffer: Buffer, offset: number): string | undefined {
  const bodyAt = bodySizeAt(buffer.readInt32BE(offset + SYS_FLAG_AT));
  const bodyLength = buffer.readInt32BE(offset + bodyAt);
  if (bodyLength === 0) return undefined;
  const start = offset + bodyAt + 4;
  const stored = buffer.readInt32BE(offset + BODY_CRC_AT);
  const actual = crc32(buffer, start, start + bodyLength);
  return actual === stored ? undefined : `body checksum is ${actual}, the record says ${stored}`;
}

/**
 * True when the head's size can be the size of a record with the body length it names: two fields agree before a large buffer is
 * made for it. A record whose body length is not in the buffer is none.
 */
export function sizeIsPlausible(buffer: Buffer, offset: number, size: number): boolean {
  if (offset + SYS_FLAG_AT + 4 > buffer.length) return false;
  const bodyAt = bodySizeAt(buffer.readInt32BE(offset + SYS_FLAG_AT));
  if (offset + bodyAt + 4 > buffer.length) return false;
  const rest = size - (bodyAt + 4 + buffer.readInt32BE(offset + bodyAt)) - 3;
  return rest >= 0 && rest <= TOPIC_BYTES_MAX + PROPERTIES_BYTES_MAX;
}

/**
 * True when a valid record has a zero byte among its properties. No checksum covers them: of a record that a crash cut short they may
 * be what was never written. A property may hold such a character, though.
 */
export function propertiesHoldZero(buffer: Buffer, offset: number, size: number): boolean {
  const bodyAt = offset + bodySizeAt(buffer.readInt32BE(offset + SYS_FLAG_AT));
  const topicAt = bodyAt + 4 + buffer.readInt32BE(bodyAt);
  const start = topicAt + 1 + buffer.readUInt8(topicAt) + 2;
  const at = buffer.indexOf(0, start);
  return at >= 0 && at < offset + size;
}

/**
 * When the record at the buffer's beginning, which was stored at `physicalOffset`, was stored, ms; -1 when none begins there. Of the
 * buffer `available` bytes tell; RECORD_TIME_BYTES are enough.
 */
export function storeTimeOf(buffer: Buffer, available: number, physicalOffset: number): number {
  if (available < RECORD_TIME_BYTES || scanRecord(buffer, 0, available, physicalOffset) < RECORD_BYTES_MIN) return -1;
  return readInt64(buffer, storeTimestampAt(buffer.readInt32BE(SYS_FLAG_AT)));
}
