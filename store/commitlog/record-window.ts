import { RECORD_BYTES_MIN } from './record-layout.js';
import { checkRecord, scanRecord } from './record-scan.js';
import type { Segments } from './segments.js';

const WINDOW_BYTES = 256 * 1024;
/** A read that does not go on where the last one ended brings only this much. */
const JUMP_BYTES = 16 * 1024;

/** Reads single records, at once; those that lie behind each other in the log cost one read for many. */
export class RecordWindow {
  #buffer = Buffer.alloc(0);
  /** Physical offset of the first byte that was read, and how many there are. */
  #from = 0;
  #length = 0;

  constructor(private readonly segments: Segments) {}

  /**
   * The whole record at `physicalOffset` of a log that ends at `end`, valid until the next call. Undefined when there is none: it was
   * deleted, or is damaged. Its checksum is not looked at.
   */
  read(physicalOffset: number, size: number, end: number): Buffer | undefined {
    if (size < RECORD_BYTES_MIN || physicalOffset + size > end) return undefined;
    if (physicalOffset < this.#from || physicalOffset + size > this.#from + this.#length)
      this.#load(physicalOffset, size, end);
    const at = physicalOffset - this.#from;
    if (at + size > this.#length || scanRecord(this.#buffer, at, size, physicalOffset) !== size) return undefined;
    const record = this.#buffer.subarray(at, at + size);
    return checkRecord(record, 0, physicalOffset, { crc: false }) === undefined ? record : undefined;
  }

  #load(physicalOffset: number, size: number, end: number): void {
    const goesOn = physicalOffset >= this.#from && physicalOffset <= this.#from + this.#length + JUMP_BYTES;
    const wanted = Math.min(
      Math.max(size, goesOn && this.#length > 0 ? WINDOW_BYTES : JUMP_BYTES),
      end - physicalOffset,
    );
    if (wanted > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(wanted);
    this.#length = this.segments.read(this.#buffer, 0, wanted, physicalOffset);
    this.#from = physicalOffset;
  }
}
