import { readInt32, readInt64, setInt64 } from '../../protocol/int64.js';

/** A ConsumeQueue unit: physical offset (64 bits), record size (32), tags code (64), big-endian (4.9: ConsumeQueue). */
export const UNIT_BYTES = 20;

/** The size that marks a unit before a queue's first real one, with physical offset 0 (4.9: ConsumeQueue#fillPreBlank). */
export const BLANK_SIZE = 0x7fffffff;
/** No record is so large; a blank unit of which a power cut left the first bytes says that it is. */
const TORN_BLANK_MIN = 0x7f000000;

export function writeUnit(
  target: DataView,
  at: number,
  physicalOffset: number,
  size: number,
  tagsHigh: number,
  tagsLow: number,
): void {
  setInt64(target, at, physicalOffset);
  target.setInt32(at + 8, size);
  target.setInt32(at + 12, tagsHigh);
  target.setInt32(at + 16, tagsLow);
}

export function unitPhysicalOffset(buffer: Buffer, at: number): number {
  return readInt64(buffer, at);
}

export function unitSize(buffer: Buffer, at: number): number {
  return readInt32(buffer, at + 8);
}

export function unitTagsCode(buffer: Buffer, at: number): bigint {
  return buffer.readBigInt64BE(at + 12);
}

/** True for a unit that stands for a record: neither unwritten nor blank. */
export function isRecordUnit(buffer: Buffer, at: number): boolean {
  const size = readInt32(buffer, at + 8);
  return size > 0 && size < TORN_BLANK_MIN && (buffer[at] as number) < 0x80;
}

/** Where many units are read one after the other, through their memory's view; as `isRecordUnit`. */
export function isRecordAt(units: DataView, at: number): boolean {
  const size = units.getInt32(at + 8);
  return size > 0 && size < TORN_BLANK_MIN && units.getInt8(at) >= 0;
}

export function isBlankUnit(buffer: Buffer, at: number): boolean {
  return buffer.readInt32BE(at + 8) === BLANK_SIZE && readInt64(buffer, at) === 0;
}

/** `count` blank units. */
export function blankUnits(count: number): Buffer {
  const units = Buffer.alloc(count * UNIT_BYTES);
  for (let index = 0; index < count; index += 1) units.writeInt32BE(BLANK_SIZE, index * UNIT_BYTES + 8);
  return units;
}

/** The setting mappedFileSizeConsumeQueue, rounded up to whole units (4.9: MessageStoreConfig#getMappedFileSizeConsumeQueue). */
export function queueFileBytes(setting: number): number {
  return Math.ceil(setting / UNIT_BYTES) * UNIT_BYTES;
}
