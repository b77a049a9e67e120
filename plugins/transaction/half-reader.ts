import { inject, injectable } from '../../kernel/container.js';
import { checkRecord, scanRecord } from '../../store/commitlog/record-scan.js';
import { RECORD_BYTES_MIN } from '../../store/commitlog/record-layout.js';
import { LogReader } from '../commitlog/contract.js';
import { HalfRecord } from './half-record.js';

/** Holds most halves whole. */
const FIRST_READ_BYTES = 4096;

/** Reads halves by their place in the log. What it returns is valid until the next call. */
@injectable()
export class HalfReader {
  readonly #half = new HalfRecord();
  #bytes = Buffer.allocUnsafeSlow(FIRST_READ_BYTES);

  constructor(@inject(LogReader) private readonly log: LogReader) {}

  isHot(physicalOffset: number): boolean {
    return this.log.isHot(physicalOffset);
  }

  /** Undefined when no half stands there. */
  readNow(physicalOffset: number): HalfRecord | undefined {
    const { log } = this;
    const available = log.maxOffset - physicalOffset;
    if (physicalOffset < log.minOffset || available < RECORD_BYTES_MIN) return undefined;
    const first = Math.min(FIRST_READ_BYTES, available);
    log.readInto(this.#bytes, 0, first, physicalOffset);
    const size = scanRecord(this.#bytes, 0, first, physicalOffset);
    if (size < RECORD_BYTES_MIN || size > available) return undefined;
    if (size > first) {
      if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(size);
      log.readInto(this.#bytes, 0, size, physicalOffset);
    }
    if (checkRecord(this.#bytes, 0, physicalOffset, { crc: false }) !== undefined) return undefined;
    return this.#half.load(this.#bytes) ? this.#half : undefined;
  }

  /** The same of what may have to come from a disk, without holding the thread. */
  async readLater(physicalOffset: number): Promise<HalfRecord | undefined> {
    const record = await this.log.record(physicalOffset);
    return record !== undefined && this.#half.load(record) ? this.#half : undefined;
  }
}
