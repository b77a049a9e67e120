import { assert } from '../../kernel/base/assert.js';
import { getInt64, readInt64, writeInt64 } from '../../protocol/int64.js';

/**
 * An ext unit: size (16 bits), tags code (64), store time in ms (64), bytes of the bitmap (16), bitmap; big-endian. Where one was
 * written, the ConsumeQueue unit holds its address in the place of the tags code (4.9: ConsumeQueueExt.CqExtUnit).
 */
export interface ExtUnit {
  /** Of the whole unit. */
  readonly bytes: number;
  readonly tagsCode: bigint;
  readonly storeTimestamp: number;
  /** Which filters the message may pass; undefined when nothing computed it. */
  readonly bitmap: Uint8Array | undefined;
}

export const EXT_UNIT_BYTES_MIN = 20;
const EXT_UNIT_BYTES_MAX = 0x7fff;
/** Free at each file's end, so that the mark that follows the last unit has room (4.9: END_BLANK_DATA_LENGTH). */
export const EXT_BLANK_BYTES = 4;
/** In the place of a size: the next unit begins the next file (4.9: ConsumeQueueExt#fullFillToEnd). */
export const EXT_FILE_END = -1;

const ADDRESS_MAX = -2_147_483_649n;
const ADDRESS_ZERO = -(2n ** 63n);

/** True for what no tags code is: hashes have 32 bits, due times are positive (4.9: ConsumeQueueExt#isExtAddr). */
export function isExtAddress(tagsCode: bigint): boolean {
  return tagsCode <= ADDRESS_MAX;
}

/** Where the unit of an address begins, counted over all files of its queue (4.9: ConsumeQueueExt#unDecorate). */
export function extOffsetOf(address: bigint): number {
  return Number(address - ADDRESS_ZERO);
}

/** The same of the ConsumeQueue unit at `at`; -1 when that holds a tags code. */
export function unitExtOffset(units: Buffer, at: number): number {
  return extOffsetIn(units.readInt32BE(at + 12), units.readInt32BE(at + 16));
}

/** The same of the two halves of what stands in the place of the tags code. */
export function extOffsetIn(high: number, low: number): number {
  if (high > -1 || (high === -1 && low < 0)) return -1;
  return (high + 0x80000000) * 0x100000000 + (low >>> 0);
}

/** Puts the address of an ext unit in the place of a ConsumeQueue unit's tags code (4.9: ConsumeQueueExt#decorate). */
export function setUnitExtOffset(units: Buffer, at: number, extOffset: number): void {
  units.writeInt32BE((Math.floor(extOffset / 0x100000000) + 0x80000000) | 0, at + 12);
  units.writeInt32BE(extOffset | 0, at + 16);
}

/** Size of the whole ext unit at `at`, or 0 when none stands there within the first `end` bytes. */
export function extUnitBytes(bytes: Buffer, at: number, end: number): number {
  if (at + EXT_UNIT_BYTES_MIN > end) return 0;
  const size = bytes.readInt16BE(at);
  const whole =
    size >= EXT_UNIT_BYTES_MIN && at + size <= end && bytes.readInt16BE(at + 18) === size - EXT_UNIT_BYTES_MIN;
  return whole ? size : 0;
}

/** The ext unit at `at`, or undefined when no whole one stands there. */
export function readExtUnit(bytes: Buffer, at: number): ExtUnit | undefined {
  const size = extUnitBytes(bytes, at, bytes.length);
  if (size === 0) return undefined;
  return {
    bytes: size,
    tagsCode: bytes.readBigInt64BE(at + 2),
    storeTimestamp: readInt64(bytes, at + 10),
    bitmap: size > EXT_UNIT_BYTES_MIN ? bytes.subarray(at + EXT_UNIT_BYTES_MIN, at + size) : undefined,
  };
}

/** An ext unit read where it lies; one object is pointed to many, one after the other. */
export class ExtPlace {
  #view: DataView = new DataView(new ArrayBuffer(EXT_UNIT_BYTES_MIN));
  #at = 0;
  /** Of the whole unit. */
  size = 0;

  /** False when no whole unit stands at `at`, before `end`. What is there must stay as it is. */
  point(view: DataView, at: number, end: number): boolean {
    if (at + EXT_UNIT_BYTES_MIN > end) return false;
    const size = view.getInt16(at);
    if (size < EXT_UNIT_BYTES_MIN || at + size > end) return false;
    if (view.getInt16(at + 18) !== size - EXT_UNIT_BYTES_MIN) return false;
    this.#view = view;
    this.#at = at;
    this.size = size;
    return true;
  }

  /** A copy. */
  get unit(): ExtUnit {
    const { buffer, byteOffset } = this.#view;
    return readExtUnit(Buffer.from(Buffer.from(buffer, byteOffset + this.#at, this.size)), 0)!;
  }

  /** The two halves of the tags code, signed. */
  get tagsHigh(): number {
    return this.#view.getInt32(this.#at + 2);
  }

  get tagsLow(): number {
    return this.#view.getInt32(this.#at + 6);
  }

  get storeTimestamp(): number {
    return getInt64(this.#view, this.#at + 10);
  }

  /** How many bits its bitmap has: 0 when nothing computed one. */
  get bits(): number {
    return (this.size - EXT_UNIT_BYTES_MIN) * 8;
  }

  /** Bit n of the bitmap stands in byte n / 8, the lowest of a byte first (4.9: BitsArray). */
  has(bit: number): boolean {
    return (this.#view.getUint8(this.#at + EXT_UNIT_BYTES_MIN + (bit >> 3)) & (1 << (bit & 7))) !== 0;
  }
}

/** Ext units that follow each other in one queue, collected until they are written in one go. */
export class ExtUnits {
  bytes: Buffer;
  length = 0;

  /** `bitmapBytes`: what is expected, so that the buffer need not grow at once. */
  constructor(bitmapBytes = 0) {
    this.bytes = Buffer.alloc(16 * (EXT_UNIT_BYTES_MIN + bitmapBytes));
  }

  /** `tagsHigh`, `tagsLow`: the two halves of the tags code. */
  add(tagsHigh: number, tagsLow: number, storeTimestamp: number, bitmap?: Uint8Array): void {
    const at = this.length;
    const size = EXT_UNIT_BYTES_MIN + (bitmap?.length ?? 0);
    assert(size <= EXT_UNIT_BYTES_MAX, `a bitmap of ${size - EXT_UNIT_BYTES_MIN} bytes is too long for an ext unit`);
    if (at + size > this.bytes.length) {
      const larger = Buffer.alloc(Math.max(this.bytes.length * 2, at + size));
      this.bytes.copy(larger, 0, 0, at);
      this.bytes = larger;
    }
    this.bytes.writeInt16BE(size, at);
    this.bytes.writeInt32BE(tagsHigh, at + 2);
    this.bytes.writeInt32BE(tagsLow, at + 6);
    writeInt64(this.bytes, storeTimestamp, at + 10);
    this.bytes.writeInt16BE(size - EXT_UNIT_BYTES_MIN, at + 18);
    if (bitmap !== undefined) this.bytes.set(bitmap, at + EXT_UNIT_BYTES_MIN);
    this.length = at + size;
  }

  /** Lets go of all but the first `count` units. */
  keep(count: number): void {
    let end = 0;
    for (let left = count; left > 0 && end < this.length; left--) end += this.bytes.readInt16BE(end);
    this.length = Math.min(end, this.length);
  }
}
