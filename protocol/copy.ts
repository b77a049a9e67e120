/** Above this the call into native code costs less than the loop. */
const LOOP_BYTES_MAX = 1024;

/** The view of the buffer that was looked at last: a socket's chunk is read many times. */
export class LastView {
  private bytes: Uint8Array | undefined;
  private view: DataView = new DataView(new ArrayBuffer(0));

  of(bytes: Uint8Array): DataView {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = viewOf(bytes);
    }
    return this.view;
  }
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The bytes at `[start, end)`, not copied. */
export function bytesOf(view: DataView, start: number, end: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + start, end - start);
}

/** Copies `source[start, end)`; returns how many bytes that were. */
export function copyBytes(source: DataView, start: number, end: number, target: DataView, at: number): number {
  if (end - start > LOOP_BYTES_MAX) bytesOf(target, at, at + end - start).set(bytesOf(source, start, end));
  else copyShort(source, start, end, target, at);
  return end - start;
}

/** Four bytes at a time: a third of what the call of Buffer#copy costs for a hundred bytes. */
function copyShort(source: DataView, start: number, end: number, target: DataView, at: number): void {
  const shift = at - start;
  let from = start;
  for (; from + 8 <= end; from += 8) {
    target.setInt32(from + shift, source.getInt32(from, true), true);
    target.setInt32(from + shift + 4, source.getInt32(from + 4, true), true);
  }
  for (; from < end; from++) target.setUint8(from + shift, source.getUint8(from));
}
