import { crc32 as nativeCrc32 } from 'node:zlib';

/** Below this size the call into native code costs more than the loop. */
const NATIVE_FROM_BYTES = 200;

const table = new Int32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  table[byte] = value;
}

/** CRC-32 of `bytes[start, end)` without its top bit, as record and registration carry it. 4.9: UtilAll#crc32. */
export function crc32(bytes: Uint8Array, start = 0, end = bytes.length): number {
  if (end - start >= NATIVE_FROM_BYTES) return nativeCrc32(bytes.subarray(start, end)) & 0x7fffffff;
  let crc = -1;
  for (let at = start; at < end; at++) {
    crc = (table[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return ~crc & 0x7fffffff;
}
