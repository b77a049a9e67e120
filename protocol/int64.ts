/** 64-bit integers as numbers. Exact up to 2^53, which no offset or time of a store reaches; beyond, rounded. */

const TWO_32 = 4294967296;

export function readInt64(buffer: Buffer, at: number): number {
  return buffer.readInt32BE(at) * TWO_32 + buffer.readUInt32BE(at + 4);
}

/** Returns the offset after it. */
export function writeInt64(buffer: Buffer, value: number, at: number): number {
  const high = Math.floor(value / TWO_32);
  buffer.writeInt32BE(high | 0, at);
  buffer.writeUInt32BE(value - high * TWO_32, at + 4);
  return at + 8;
}
