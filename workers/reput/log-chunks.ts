import { KernelError } from '../../kernel/base/errors.js';
import { Segments } from '../../store/commitlog/segments.js';
import { DAMAGED, NEED_MORE, scanRecord } from '../../store/commitlog/record-scan.js';
import type { StoreFiles } from '../../store/files/contract.js';
import type { LogLocation } from '../commitlog/contract.js';

const CHUNK_BYTES = 1 << 20;

/** Reads the log forward in chunks as large as the step between two wake-ups, and cuts them into records. */
export class LogChunks {
  readonly #segments: Segments;
  readonly #segmentBytes: number;
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);
  #position: number;

  constructor(files: StoreFiles, log: LogLocation, position: number) {
    this.#segments = new Segments(files, log.dir, log.temporaryDir, log.segmentBytes);
    this.#segments.open('read');
    this.#segmentBytes = log.segmentBytes;
    this.#position = position;
  }

  /**
   * Calls `onRecord` for every whole record of one chunk below `limit`; returns the offset after the last one. Fillers are
   * stepped over. What is no record can only lie before the part that recovery walked: `onDamage` hears of it, and the rest of its
   * segment is passed over. Throws when the log ends within a record, which a recovered log does not.
   */
  read(
    limit: number,
    onRecord: (buffer: Buffer, at: number, physicalOffset: number) => void,
    onDamage: (physicalOffset: number) => void,
  ): number {
    const available = this.#load(limit);
    let at = 0;
    while (at < available) {
      const size = scanRecord(this.#buffer, at, available - at, this.#position + at);
      if (size === NEED_MORE || size > available - at) break;
      if (size < 0) {
        this.#position += at;
        if (size === DAMAGED) onDamage(this.#position);
        return this.#nextSegment(limit);
      }
      onRecord(this.#buffer, at, this.#position + at);
      at += size;
    }
    if (at === 0) this.#growFor(available);
    this.#position += at;
    return this.#position;
  }

  /** After a failure: start again here. */
  rewind(position: number): void {
    this.#position = position;
  }

  /** See Segments#forgetBelow. */
  forgetBelow(offset: number): void {
    this.#segments.forgetBelow(offset);
  }

  close(): void {
    this.#segments.close();
  }

  #load(limit: number): number {
    const want = Math.min(limit - this.#position, CHUNK_BYTES);
    if (want > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, want * 2));
    const inSegment = this.#segmentBytes - (this.#position % this.#segmentBytes);
    const length = Math.min(limit - this.#position, this.#buffer.length, inSegment);
    return this.#segments.read(this.#buffer, 0, length, this.#position);
  }

  #nextSegment(limit: number): number {
    const next = this.#position + this.#segmentBytes - (this.#position % this.#segmentBytes);
    this.#position = Math.min(next, limit);
    return this.#position;
  }

  /** A record larger than the buffer: make room for it, once. */
  #growFor(available: number): void {
    if (available < 4) throw new KernelError('LOG_DAMAGED', `the log ends inside a record at offset ${this.#position}`);
    const size = this.#buffer.readInt32BE(0);
    if (size > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(size);
    else throw new KernelError('LOG_DAMAGED', `the log ends inside a record at offset ${this.#position}`);
  }
}
