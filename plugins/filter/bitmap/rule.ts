import { murmur3 } from './murmur3.js';

/** Bits that each filter has among those of a message's bitmap (4.9: BloomFilter's k). */
export function hashesOf(errorPercent: number): number {
  return Math.ceil(Math.log(errorPercent / 100) / Math.log(0.5));
}

/** Which bits a group's filter on a topic has (4.9: BloomFilter#calcBitPositions, ConsumerFilterManager#register). */
export function positionsOf(group: string, topic: string, bits: number, hashes: number): number[] {
  return bloomPositions(`${group}#${topic}`, bits, hashes);
}

/** `hashes` positions below `bits`; some may be equal. */
export function bloomPositions(key: string, bits: number, hashes: number): number[] {
  const hash = murmur3(key);
  const first = Number(BigInt.asIntN(32, hash));
  const second = Number(BigInt.asIntN(32, hash >> 32n));
  return Array.from({ length: hashes }, (_, i) => {
    const combined = (first + Math.imul(i + 1, second)) | 0;
    return (combined < 0 ? ~combined : combined) % bits;
  });
}

/** Bit n stands in byte n / 8, the lowest of a byte first (4.9: BitsArray). */
export function setBits(bitmap: Uint8Array, positions: readonly number[]): void {
  for (const position of positions) (bitmap[position >> 3] as number) |= 1 << (position & 7);
}
