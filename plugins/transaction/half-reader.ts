import { inject, injectable } from '../../kernel/container.js';
import { checkRecord, scanRecord } from '../../store/commitlog/record-scan.js';
import { RECORD_BYTES_MIN } from '../../store/commitlog/record-layout.js';
import { viewOf } from '../../protocol/copy.js';
import { LogReader } from '../commitlog/contract.js';
import { HalfRecord } from './half-record.js';
import { LogPieces } from './log-pieces.js';

/** Reads halves by their place in the log. What it returns is valid until the next call. */
@injectable()
export class HalfReader {
  readonly #half = new HalfRecord();
  readonly #pieces: LogPieces;

  constructor(@inject(LogReader) private readonly log: LogReader) {
    this.#pieces = new LogPieces(log);
  }

  isHot(physicalOffset: number): boolean {
    return this.log.isHot(physicalOffset);
  }

  /** Undefined when no half stands there. */
  readNow(physicalOffset: number): HalfRecord | undefined {
    const { log } = this;
    const available = log.maxOffset - physicalOffset;
    if (physicalOffset < log.minOffset || available < RECORD_BYTES_MIN) return undefined;
    const piece = this.#pieces.find(physicalOffset, RECORD_BYTES_MIN);
    if (piece === undefined) return this.#readAlone(physicalOffset, available);
    const { at } = this.#pieces;
    const size = scanRecord(piece.bytes, at, RECORD_BYTES_MIN, physicalOffset);
    if (size < RECORD_BYTES_MIN || size > available) return undefined;
    if (at + size > piece.length) return this.#readAlone(physicalOffset, size);
    return this.#load(piece.bytes, piece.view, at, physicalOffset);
  }

  /** A record that is not in one piece. */
  #readAlone(physicalOffset: number, available: number): HalfRecord | undefined {
    const head = Buffer.allocUnsafe(RECORD_BYTES_MIN);
    this.log.readInto(head, 0, head.length, physicalOffset);
    const size = scanRecord(head, 0, head.length, physicalOffset);
    if (size < RECORD_BYTES_MIN || size > available) return undefined;
    const bytes = Buffer.allocUnsafe(size);
    this.log.readInto(bytes, 0, size, physicalOffset);
    return this.#load(bytes, viewOf(bytes), 0, physicalOffset);
  }

  #load(bytes: Buffer, view: DataView, at: number, physicalOffset: number): HalfRecord | undefined {
    if (checkRecord(bytes, at, physicalOffset, { crc: false }) !== undefined) return undefined;
    return this.#half.load(bytes, view, at) ? this.#half : undefined;
  }

  /** A whole record that may have to come from a disk, without holding the thread. */
  record(physicalOffset: number): Promise<Buffer | undefined> {
    return this.log.record(physicalOffset);
  }

  /** What the record is as a half, or undefined when it is none. */
  halfOf(record: Buffer): HalfRecord | undefined {
    return this.#half.load(record) ? this.#half : undefined;
  }
}
