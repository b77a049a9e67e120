/** Places; two by two they serve strings of the same hash. */
const SLOTS = 1024;
/** Names and plain expressions; what is longer is decoded each time. */
const BYTES_MAX = 128;

interface Known {
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Strings by their UTF-8 bytes: the names in requests are few and come again and again, so most need no decoding, and as one object
 * they are quick to look up. Bounded: of strings that share their places the last two stay.
 */
export class KnownStrings {
  readonly #slots = new Array<Known | undefined>(SLOTS).fill(undefined);

  text(buffer: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > BYTES_MAX) return buffer.toString('utf8', start, end);
    const slot = slotOf(buffer, start, end);
    const newer = this.#slots[slot];
    if (newer !== undefined && isSame(newer.bytes, buffer, start, length)) return newer.text;
    const older = this.#slots[slot + 1];
    if (older !== undefined && isSame(older.bytes, buffer, start, length)) return older.text;
    const bytes = Buffer.from(buffer.subarray(start, end));
    const text = bytes.toString('utf8');
    this.#slots[slot] = { bytes, text };
    this.#slots[slot + 1] = newer;
    return text;
  }
}

function slotOf(buffer: Buffer, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (buffer[at] as number)) | 0;
  return (hash ^ (hash >>> 10) ^ (hash >>> 20)) & (SLOTS - 2);
}

function isSame(bytes: Buffer, buffer: Buffer, start: number, length: number): boolean {
  if (bytes.length !== length) return false;
  for (let index = 0; index < length; index++) if (bytes[index] !== buffer[start + index]) return false;
  return true;
}
