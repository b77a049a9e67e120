import { readInt64 } from '../../protocol/int64.js';
import { PHYSICAL_OFFSET_AT } from '../../protocol/message/record.js';
import { checkRecord, scanRecord } from '../commitlog/record-scan.js';
import { RECORD_HEAD_BYTES } from '../commitlog/record-layout.js';
import { DispatchFields, readDispatch } from '../dispatch/read-dispatch.js';
import type { LogRun } from './log-run.js';

const WINDOW_BYTES = 1024 * 1024;

/** Records by their physical offset; offsets that grow read each piece of the log once. */
export class LogLookup {
  readonly fields = new DispatchFields([]);
  /** Holds the record that was found last, from `recordAt` on. */
  bytes = Buffer.alloc(0);
  recordAt = 0;
  readonly #runs: readonly LogRun[];
  #buffer = Buffer.allocUnsafe(WINDOW_BYTES);
  #start = 0;
  #run: LogRun | undefined;

  constructor(runs: readonly LogRun[]) {
    this.#runs = runs;
  }

  /** True when a whole record that was stored there lies there; `fields` and `bytes` are its own then. */
  find(physicalOffset: number): boolean {
    const size = this.#sizeAt(physicalOffset);
    if (size === undefined || !this.#hold(physicalOffset, size)) return false;
    this.recordAt = physicalOffset - this.#start;
    if (checkRecord(this.bytes, this.recordAt, physicalOffset, { crc: false }) !== undefined) return false;
    return readDispatch(this.bytes, this.recordAt, physicalOffset, this.fields) === undefined;
  }

  /** In words: whose record lies there. */
  describe(physicalOffset: number): string {
    if (this.find(physicalOffset)) {
      const { topic, queueId, queueOffset } = this.fields;
      return `the record of ${topic}/${queueId} offset ${queueOffset}`;
    }
    return 'no record';
  }

  #sizeAt(physicalOffset: number): number | undefined {
    if (!this.#hold(physicalOffset, RECORD_HEAD_BYTES)) return undefined;
    const at = physicalOffset - this.#start;
    if (readInt64(this.bytes, at + PHYSICAL_OFFSET_AT) !== physicalOffset) return undefined;
    const size = scanRecord(this.bytes, at, RECORD_HEAD_BYTES, physicalOffset);
    return size > 0 ? size : undefined;
  }

  #hold(physicalOffset: number, length: number): boolean {
    const end = this.#start + this.bytes.length;
    if (this.#run !== undefined && physicalOffset >= this.#start && physicalOffset + length <= end) return true;
    const run = this.#runs.find(
      ({ startOffset, endOffset }) => physicalOffset >= startOffset && physicalOffset < endOffset,
    );
    if (run === undefined || physicalOffset + length > run.endOffset) return false;
    if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(length);
    this.#run = run;
    this.#start = physicalOffset;
    this.bytes = this.#buffer.subarray(0, run.read(this.#buffer, 0, this.#buffer.length, physicalOffset));
    return this.bytes.length >= length;
  }
}
