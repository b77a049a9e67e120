import { crc32 as nativeCrc32 } from 'node:zlib';
import { bytesOf, copyBytes } from '../copy.js';

/** Below this size the call into native code costs more than the loop. */
const NATIVE_FROM_BYTES = 512;
/** The loop takes so many bytes at a time, with a table for each place (slicing-by-8). */
const SLICE = 8;

const tables = new Int32Array(SLICE * 256);
for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  tables[byte] = value;
}
for (let at = 256; at < tables.length; at++) tables[at] = (tables[at - 256] >>> 8) ^ tables[tables[at - 256] & 0xff];

/** CRC-32 of `bytes[start, end)` without its top bit, as record and registration carry it. 4.9: UtilAll#crc32. */
export function crc32(bytes: Uint8Array, start = 0, end = bytes.length): number {
  if (end - start >= NATIVE_FROM_BYTES) return nativeCrc32(bytes.subarray(start, end)) & 0x7fffffff;
  let crc = -1;
  let at = start;
  for (; at + SLICE <= end; at += SLICE) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    crc =
      tables[0x700 | (crc & 0xff)] ^
      tables[0x600 | ((crc >>> 8) & 0xff)] ^
      tables[0x500 | ((crc >>> 16) & 0xff)] ^
      tables[0x400 | (crc >>> 24)] ^
      tables[0x300 | bytes[at + 4]] ^
      tables[0x200 | bytes[at + 5]] ^
      tables[0x100 | bytes[at + 6]] ^
      tables[bytes[at + 7]];
  }
  for (; at < end; at++) crc = tables[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return ~crc & 0x7fffffff;
}

/** Copies `source[start, end)` and returns what `crc32` says of it: one pass instead of two. */
export function copyWithCrc(source: DataView, start: number, end: number, target: DataView, at: number): number {
  if (end - start >= NATIVE_FROM_BYTES) {
    copyBytes(source, start, end, target, at);
    return nativeCrc32(bytesOf(source, start, end)) & 0x7fffffff;
  }
  const shift = at - start;
  let crc = -1;
  let from = start;
  for (; from + SLICE <= end; from += SLICE) {
    const low = source.getInt32(from, true);
    const high = source.getInt32(from + 4, true);
    target.setInt32(from + shift, low, true);
    target.setInt32(from + shift + 4, high, true);
    crc ^= low;
    crc =
      tables[0x700 | (crc & 0xff)] ^
      tables[0x600 | ((crc >>> 8) & 0xff)] ^
      tables[0x500 | ((crc >>> 16) & 0xff)] ^
      tables[0x400 | (crc >>> 24)] ^
      tables[0x300 | (high & 0xff)] ^
      tables[0x200 | ((high >>> 8) & 0xff)] ^
      tables[0x100 | ((high >>> 16) & 0xff)] ^
      tables[high >>> 24];
  }
  for (; from < end; from++) {
    const byte = source.getUint8(from);
    target.setUint8(from + shift, byte);
    crc = tables[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  }
  return ~crc & 0x7fffffff;
}
