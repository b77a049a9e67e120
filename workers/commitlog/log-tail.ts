import { systemCodeOf } from '../../kernel/base/errors.js';
import type { StoreFile, StoreFiles } from '../../store/files/contract.js';
import { roomFor, writeFiller } from '../../store/commitlog/filler.js';
import { BLANK_BYTES_MIN } from '../../protocol/message/record.js';
import { Segments } from '../../store/commitlog/segments.js';
import { readySegmentPath } from '../../store/files/paths.js';
import type { LogLocation } from './contract.js';

const ZEROS = Buffer.alloc(4096);
const NOTHING = Buffer.alloc(0);

/** The end of the log: where the next byte goes, in which segment, and how a segment is ended. */
export class LogTail {
  readonly #segments: Segments;
  readonly #segmentBytes: number;
  #position: number;
  #file: StoreFile | undefined;
  #base = -1;
  #damaged = false;
  readonly #blank: Buffer;
  /** Place in the segment up to which its pages are there. */
  #clearedTo = 0;

  /**
   * `readyBase` tells which segment, by its first offset, was made ahead. With `clearAheadBytes` zeros are written over the hole that
   * stands there, a block at a time: the system then takes large pages, and allocates once a block. Small writes into a hole cost it
   * twice as much, and syncs of them half as much again.
   */
  constructor(
    files: StoreFiles,
    private readonly log: LogLocation,
    position: number,
    private readonly readyBase: () => number,
    clearAheadBytes = 0,
  ) {
    this.#blank = clearAheadBytes > 0 ? Buffer.alloc(clearAheadBytes) : NOTHING;
    this.#segments = new Segments(files, log.dir, log.temporaryDir, log.segmentBytes);
    this.#segments.open('read');
    this.#segmentBytes = log.segmentBytes;
    this.#position = position;
  }

  /** Physical offset of the next byte. */
  get position(): number {
    return this.#position;
  }

  /** A failed write left bytes beyond `position` that could not be erased. */
  get damaged(): boolean {
    return this.#damaged;
  }

  canEverFit(bytes: number): boolean {
    return bytes + BLANK_BYTES_MIN <= this.#segmentBytes;
  }

  /** True when `bytes` go into the segment that `makeRoom` opened. */
  fits(bytes: number): boolean {
    return roomFor(bytes, this.#position, this.#base, this.#segmentBytes);
  }

  /** Opens the segment that takes `bytes`; ends the present one with a filler when it has no room. Throws what the disk says. */
  makeRoom(bytes: number): void {
    this.#open();
    if (this.fits(bytes)) return;
    this.#position = writeFiller(this.#file!, this.#base, this.#position, this.#segmentBytes);
    this.#open();
  }

  /** Writes at the tail and moves it. On failure the tail stays and what was tried is erased; see `damaged`. */
  write(source: Uint8Array, start: number, bytes: number): void {
    const at = this.#position - this.#base;
    if (at + bytes > this.#clearedTo && this.#blank.length > 0) this.#clearBlock(at + bytes);
    try {
      this.#file!.write(source, start, bytes, at);
    } catch (error) {
      this.#erase(at, bytes);
      throw error;
    }
    this.#position += bytes;
  }

  /** See Segments#forgetBelow. */
  forgetBelow(offset: number): void {
    this.#segments.forgetBelow(offset);
  }

  close(): void {
    this.#segments.close();
  }

  #open(): void {
    const base = this.#position - (this.#position % this.#segmentBytes);
    if (this.#file !== undefined && this.#base === base) return;
    const ready = base > 0 && this.readyBase() === base ? readySegmentPath(this.log.temporaryDir, base) : undefined;
    this.#file = this.#segments.ensure(this.#position, ready);
    this.#base = base;
    this.#clearedTo = this.#position - base;
  }

  /** Zeros for what the write up to `end` leaves of its last block; blocks that it fills need none. It may fail: the write tells. */
  #clearBlock(end: number): void {
    const size = this.#blank.length;
    const from = Math.max(this.#clearedTo, end - (end % size));
    const to = Math.min(end - (end % size) + size, this.#segmentBytes);
    this.#clearedTo = to;
    try {
      this.#file!.write(this.#blank, 0, to - from, from);
    } catch {
      // A disk that is full for a block may have room for a record.
    }
  }

  #erase(at: number, bytes: number): void {
    try {
      for (let done = 0; done < bytes; done += ZEROS.length)
        this.#file!.write(ZEROS, 0, Math.min(ZEROS.length, bytes - done), at + done);
    } catch (error) {
      const code = systemCodeOf(error);
      // On a full disk, as a rule, what cannot be zeroed was never allocated and reads as zeros already.
      this.#damaged = (code !== 'ENOSPC' && code !== 'EDQUOT') || !this.#isBlank(at, bytes);
    }
  }

  #isBlank(at: number, bytes: number): boolean {
    const page = Buffer.allocUnsafe(ZEROS.length);
    for (let done = 0; done < bytes; done += page.length) {
      const length = Math.min(page.length, bytes - done);
      if (this.#file!.read(page, 0, length, at + done) !== length || page.compare(ZEROS, 0, length, 0, length) !== 0)
        return false;
    }
    return true;
  }
}
