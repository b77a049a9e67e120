/**
 * Big-endian integers on hot paths, read by index: the methods of Buffer check their argument each time, and are slow where buffers of
 * several origins meet. 64-bit integers are numbers: exact up to 2^53, which no offset or time of a store reaches; beyond, rounded.
 */

const TWO_32 = 4294967296;

/** As `readInt32`. */
export function readInt16(buffer: Uint8Array, at: number): number {
  return (((buffer[at] as number) << 24) >> 16) | (buffer[at + 1] as number);
}

/** The bytes must be there: beyond the buffer's end it gives no error. */
export function readInt32(buffer: Uint8Array, at: number): number {
  const high = ((buffer[at] as number) << 24) | ((buffer[at + 1] as number) << 16);
  return high | ((buffer[at + 2] as number) << 8) | (buffer[at + 3] as number);
}

export function readInt64(buffer: Buffer, at: number): number {
  const high = ((buffer[at] as number) << 24) | ((buffer[at + 1] as number) << 16);
  const low = ((buffer[at + 4] as number) << 24) | ((buffer[at + 5] as number) << 16);
  return (
    (high | ((buffer[at + 2] as number) << 8) | (buffer[at + 3] as number)) * TWO_32 +
    ((low | ((buffer[at + 6] as number) << 8) | (buffer[at + 7] as number)) >>> 0)
  );
}

/** Returns the offset after it. */
export function writeInt64(buffer: Buffer, value: number, at: number): number {
  const high = Math.floor(value / TWO_32);
  buffer.writeInt32BE(high | 0, at);
  buffer.writeUInt32BE(value - high * TWO_32, at + 4);
  return at + 8;
}

/** As `readInt64`, where many fields are read one after the other through the memory's view. */
export function getInt64(view: DataView, at: number): number {
  return view.getInt32(at) * TWO_32 + view.getUint32(at + 4);
}

/** As `writeInt64`, where many fields are written one after the other through the memory's view. */
export function setInt64(view: DataView, at: number, value: number): void {
  const high = Math.floor(value / TWO_32);
  view.setInt32(at, high);
  view.setInt32(at + 4, value - high * TWO_32);
}
