import { KernelError } from '../../kernel/base/errors.js';
import { readInt64 } from '../../protocol/int64.js';
import { MESSAGE_MAGIC, MAGIC_AT, PHYSICAL_OFFSET_AT, measure } from '../../protocol/message/record.js';
import type { LogReader } from '../commitlog/contract.js';
import { RecordProperties, type CompiledFilter } from '../filter/contract.js';

/** A record that a queue unit points to. */
export interface Candidate {
  readonly physicalOffset: number;
  readonly size: number;
}

export interface ReadRecords {
  readonly body: Buffer;
  readonly messages: number;
  /** Physical offset of the first record that is not there any more; -1 when all were. */
  readonly goneAt: number;
}

/** Records of a queue that lie nearer to each other than this are fetched in one read: it costs less than one more call. */
const GAP_BYTES_MAX = 8192;
const SPAN_BYTES_MAX = 1 << 20;

/** Fetches records of the log with as few reads as their places allow, and one copy. */
export class RecordSpans {
  #scratch = Buffer.allocUnsafeSlow(64 * 1024);
  readonly #properties = new RecordProperties();

  constructor(private readonly log: LogReader) {}

  /** The candidates that match, one behind the other. Cold ones are read without holding the thread. */
  async read(candidates: readonly Candidate[], matches: CompiledFilter['matches']): Promise<ReadRecords> {
    const body = Buffer.allocUnsafe(candidates.reduce((sum, { size }) => sum + size, 0));
    let bytes = 0;
    let messages = 0;
    for (let first = 0; first < candidates.length;) {
      const end = spanEnd(candidates, first);
      const start = candidates[first].physicalOffset;
      const length = candidates[end - 1].physicalOffset + candidates[end - 1].size - start;
      const hot = this.log.isHot(start);
      const source = hot ? this.#scratchOf(length) : Buffer.allocUnsafe(length);
      try {
        if (hot) this.log.readInto(source, 0, length, start);
        else await this.log.readIntoAsync(source, 0, length, start);
      } catch (error) {
        if (!(error instanceof KernelError)) throw error;
        return { body: body.subarray(0, bytes), messages, goneAt: start };
      }
      for (; first < end; first++) {
        const { physicalOffset, size } = candidates[first];
        const at = physicalOffset - start;
        if (!isRecord(source, at, physicalOffset, size))
          return { body: body.subarray(0, bytes), messages, goneAt: physicalOffset };
        if (matches !== undefined && !matches(this.#propertiesOf(source, at))) continue;
        source.copy(body, bytes, at, at + size);
        bytes += size;
        messages++;
      }
    }
    return { body: body.subarray(0, bytes), messages, goneAt: -1 };
  }

  #propertiesOf(source: Buffer, at: number): RecordProperties {
    const { propertiesAt, propertiesBytes } = measure(source, at);
    return this.#properties.at(source, propertiesAt, propertiesAt + propertiesBytes);
  }

  #scratchOf(length: number): Buffer {
    if (length > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(length);
    return this.#scratch;
  }
}

function spanEnd(candidates: readonly Candidate[], first: number): number {
  const start = candidates[first].physicalOffset;
  let end = first + 1;
  for (; end < candidates.length; end++) {
    const before = candidates[end - 1];
    const next = candidates[end];
    const gap = next.physicalOffset - before.physicalOffset - before.size;
    if (gap < 0 || gap > GAP_BYTES_MAX || next.physicalOffset + next.size - start > SPAN_BYTES_MAX) break;
  }
  return end;
}

/** The unit and the record must agree before anything is sent. */
function isRecord(source: Buffer, at: number, physicalOffset: number, size: number): boolean {
  return (
    source.readInt32BE(at) === size &&
    source.readInt32BE(at + MAGIC_AT) === MESSAGE_MAGIC &&
    readInt64(source, at + PHYSICAL_OFFSET_AT) === physicalOffset
  );
}
