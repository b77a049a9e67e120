import { viewOf } from '../../protocol/copy.js';
import type { LogReader } from '../commitlog/contract.js';

const PIECE_BYTES = 64 * 1024;
const PIECES = 8;

export interface Piece {
  /** Of its place in the log, counted from 0; -1 before anything was read. */
  number: number;
  /** Bytes from its beginning that were read. */
  length: number;
  readonly bytes: Buffer;
  readonly view: DataView;
}

/**
 * The log's last pieces, each byte read once: producers end their transactions soon after they began them, many at a time, and a call
 * into the system for each would cost more than all else.
 */
export class LogPieces {
  readonly #pieces: Piece[] = [];
  /** Where in its bytes that stands which `find` found. */
  at = 0;

  constructor(private readonly log: LogReader) {
    for (let i = 0; i < PIECES; i++) {
      const bytes = Buffer.allocUnsafeSlow(PIECE_BYTES);
      this.#pieces.push({ number: -1, length: 0, bytes, view: viewOf(bytes) });
    }
  }

  /**
   * The piece that holds `[offset, offset + length)` of the log, which must be there; undefined when it crosses the end of one. The bytes
   * are at `at`, and valid until the next call.
   */
  find(offset: number, length: number): Piece | undefined {
    this.at = offset % PIECE_BYTES;
    if (this.at + length > PIECE_BYTES) return undefined;
    const number = (offset - this.at) / PIECE_BYTES;
    const piece = this.#pieces[number % PIECES];
    if (piece.number !== number) {
      piece.number = number;
      piece.length = 0;
    }
    if (piece.length < this.at + length) this.#read(piece);
    return piece.length < this.at + length ? undefined : piece;
  }

  #read(piece: Piece): void {
    const start = piece.number * PIECE_BYTES;
    const from = Math.max(piece.length, this.log.minOffset - start);
    const length = Math.min(PIECE_BYTES, this.log.maxOffset - start) - from;
    if (length <= 0) return;
    piece.number = -1;
    this.log.readInto(piece.bytes, from, length, start + from);
    piece.number = start / PIECE_BYTES;
    piece.length = from + length;
  }
}
