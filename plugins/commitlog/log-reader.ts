import { inject, injectable } from '../../kernel/container.js';
import { KernelError } from '../../kernel/base/errors.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { Options } from '../../kernel/tokens.js';
import { RECORD_BYTES_MIN, RECORD_TIME_BYTES } from '../../store/commitlog/record-layout.js';
import { checkRecord, scanRecord, storeTimeOf } from '../../store/commitlog/record-scan.js';
import { Segments } from '../../store/commitlog/segments.js';
import { StoreState, type LogReader } from './contract.js';

/** A first read that holds most records whole. */
const FIRST_READ_BYTES = 4096;
/** What was written last is in the page cache, as long as it is a small part of the memory. */
const MEMORY_SHARE = 8;

/** The network thread's reader of the log. Near the tail it reads at once, further behind without holding the thread. */
@injectable()
export class CommitLogReader implements LogReader {
  readonly #segments: Segments;
  readonly #hotBytes: number;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(Options) options: Options,
  ) {
    const { dir, temporaryDir, segmentBytes } = state.log;
    this.#hotBytes = Math.min(options.hotBytes, options.totalMemoryBytes / MEMORY_SHARE);
    this.#segments = new Segments(state.files, dir, temporaryDir, segmentBytes);
  }

  get minOffset(): number {
    return this.state.watermarks.get(Watermark.logMin);
  }

  get maxOffset(): number {
    return this.state.watermarks.get(Watermark.appended);
  }

  isHot(physicalOffset: number): boolean {
    return this.state.inMemory || this.maxOffset - physicalOffset <= this.#hotBytes;
  }

  readInto(target: Buffer, targetOffset: number, length: number, physicalOffset: number): void {
    this.#all(this.#segments.read(target, targetOffset, length, physicalOffset), length, physicalOffset);
  }

  async readIntoAsync(target: Buffer, targetOffset: number, length: number, physicalOffset: number): Promise<void> {
    this.#all(await this.#segments.readAsync(target, targetOffset, length, physicalOffset), length, physicalOffset);
  }

  async record(physicalOffset: number): Promise<Buffer | undefined> {
    const first = await this.#upTo(physicalOffset, FIRST_READ_BYTES);
    if (first.length < RECORD_BYTES_MIN) return undefined;
    const size = scanRecord(first, 0, first.length, physicalOffset);
    if (size < RECORD_BYTES_MIN) return undefined;
    const whole = size <= first.length ? first.subarray(0, size) : await this.#upTo(physicalOffset, size);
    if (whole.length < size) return undefined;
    return checkRecord(whole, 0, physicalOffset, { crc: false }) === undefined ? whole : undefined;
  }

  async storeTimestamp(physicalOffset: number): Promise<number> {
    const head = await this.#upTo(physicalOffset, RECORD_TIME_BYTES);
    return storeTimeOf(head, head.length, physicalOffset);
  }

  forgetRemoved(): void {
    this.#segments.forgetBelow(this.minOffset);
  }

  close(): void {
    this.#segments.close();
  }

  /** Up to `length` bytes, fewer at the log's end, none outside of it. */
  async #upTo(physicalOffset: number, length: number): Promise<Buffer> {
    const available = this.maxOffset - physicalOffset;
    if (physicalOffset < this.minOffset || !Number.isSafeInteger(physicalOffset) || available <= 0)
      return Buffer.alloc(0);
    const bytes = Buffer.allocUnsafe(Math.min(length, available));
    if (this.isHot(physicalOffset)) this.readInto(bytes, 0, bytes.length, physicalOffset);
    else await this.readIntoAsync(bytes, 0, bytes.length, physicalOffset);
    return bytes;
  }

  #all(read: number, wanted: number, physicalOffset: number): void {
    if (read === wanted) return;
    throw new KernelError('LOG_READ_SHORT', `the log has ${read} of ${wanted} bytes at offset ${physicalOffset}`, {
      remedy: "a segment was removed while it was read; ask again from the queue's minimum offset",
    });
  }
}
