import type { StoreFile } from '../files/contract.js';

const CHUNK_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** The next piece of the file with anything but zeros in it. */
export function nextData(file: StoreFile, from: number, end: number): { position: number; length: number } | undefined {
  const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, end - from)));
  for (let position = from; position < end; position += chunk.length) {
    const length = file.read(chunk, 0, Math.min(chunk.length, end - position), position);
    if (length === 0) return undefined;
    if (chunk.compare(ZEROS, 0, length, 0, length) !== 0) return { position, length };
  }
  return undefined;
}
