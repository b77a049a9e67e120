import { KernelError } from '../../kernel/base/errors.js';
import { readInt32, readInt64 } from '../../protocol/int64.js';
import { MESSAGE_MAGIC, MAGIC_AT, PHYSICAL_OFFSET_AT, measure } from '../../protocol/message/record.js';
import type { LogReader } from '../commitlog/contract.js';
import { RecordProperties, type CompiledFilter } from '../filter/contract.js';
import type { ColdReads } from './cold-reads.js';
import { HotBlocks, type RecordSlice } from './hot-blocks.js';

/** A record that a queue unit points to. */
export interface Candidate {
  /** Number of the unit among those of the pull. */
  readonly unit: number;
  readonly physicalOffset: number;
  readonly size: number;
}

/** Takes a record that matches. */
export type TakeRecord = (bytes: Buffer, at: number, size: number) => void;

/** Records that lie nearer to each other than this, and at least so many of them, are worth fetching what lies between. */
const GAP_BYTES_MAX = 8192;
const DENSE_RECORDS_MIN = 4;
const SPAN_BYTES_MAX = 1 << 20;

/** Fetches the records of a pull: near the tail at once, from blocks that pulls share; further behind without holding the thread. */
export class RecordSource {
  readonly #blocks: HotBlocks;
  readonly #properties = new RecordProperties();

  constructor(
    private readonly log: LogReader,
    private readonly reads: ColdReads,
  ) {
    this.#blocks = new HotBlocks(log, reads);
  }

  /** True when reading them cannot wait for a disk: they lie near the tail, or were brought before. */
  areReady(candidates: readonly Candidate[]): boolean {
    if (this.log.isHot(candidates[0].physicalOffset)) return true;
    this.#blocks.ahead(candidates[candidates.length - 1].physicalOffset);
    return candidates.every(({ physicalOffset, size }) => this.#blocks.holds(physicalOffset, size));
  }

  /** Brings those that lie close together, without holding the thread; false when they do not, and `readCold` is for them. */
  async bring(candidates: readonly Candidate[]): Promise<boolean> {
    if (!isDense(candidates)) return false;
    for (const { physicalOffset, size } of candidates) await this.#blocks.fetch(physicalOffset, size);
    return this.areReady(candidates);
  }

  /** A new pull: slices of earlier ones are not used any more. */
  begin(): void {
    this.#blocks.beginRound();
  }

  /** Hands over the candidates that match, in order; returns the first that is not there any more. */
  readHot(
    candidates: readonly Candidate[],
    matches: CompiledFilter['matches'],
    take: TakeRecord,
  ): Candidate | undefined {
    const load = isDense(candidates);
    for (const candidate of candidates) {
      const slice = this.#hotRecord(candidate.physicalOffset, candidate.size, load);
      if (slice === undefined || !isRecord(slice, candidate.physicalOffset)) return candidate;
      if (matches === undefined || matches(this.#propertiesOf(slice))) take(slice.bytes, slice.at, slice.size);
    }
    return undefined;
  }

  /** The same into memory of its own, without holding the thread. */
  async readCold(
    candidates: readonly Candidate[],
    matches: CompiledFilter['matches'],
    take: TakeRecord,
  ): Promise<Candidate | undefined> {
    // At the same time: records that lie far apart wait for one read after the other otherwise.
    const spans = await Promise.all(spansOf(candidates).map((span) => this.#readSpan(span)));
    for (const { records, bytes } of spans) {
      if (bytes === undefined) return records[0];
      const start = records[0].physicalOffset;
      for (const record of records) {
        const slice = { bytes, at: record.physicalOffset - start, size: record.size };
        if (!isRecord(slice, record.physicalOffset)) return record;
        if (matches === undefined || matches(this.#propertiesOf(slice))) take(slice.bytes, slice.at, slice.size);
      }
    }
    return undefined;
  }

  /** Without bytes when they are not there any more. */
  #readSpan(records: readonly Candidate[]): Promise<{ records: readonly Candidate[]; bytes?: Buffer }> {
    const start = records[0].physicalOffset;
    const last = records[records.length - 1];
    return this.reads.run(async () => {
      const bytes = Buffer.allocUnsafe(last.physicalOffset + last.size - start);
      try {
        await this.log.readIntoAsync(bytes, 0, bytes.length, start);
        return { records, bytes };
      } catch (error) {
        if (error instanceof KernelError) return { records };
        throw error;
      }
    });
  }

  /** From the blocks; alone when it is not there, or when its block reaches into a segment that is gone. */
  #hotRecord(physicalOffset: number, size: number, load: boolean): RecordSlice | undefined {
    try {
      const shared = this.#blocks.record(physicalOffset, size, load);
      if (shared !== undefined) return shared;
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
    }
    return this.#alone(physicalOffset, size);
  }

  #alone(physicalOffset: number, size: number): RecordSlice | undefined {
    const bytes = Buffer.allocUnsafe(size);
    try {
      this.log.readInto(bytes, 0, size, physicalOffset);
    } catch (error) {
      if (error instanceof KernelError) return undefined;
      throw error;
    }
    return { bytes, at: 0, size };
  }

  #propertiesOf({ bytes, at }: RecordSlice): RecordProperties {
    const { propertiesAt, propertiesBytes } = measure(bytes, at);
    return this.#properties.at(bytes, propertiesAt, propertiesAt + propertiesBytes);
  }
}

function isDense(candidates: readonly Candidate[]): boolean {
  if (candidates.length < DENSE_RECORDS_MIN) return false;
  const span = candidates[candidates.length - 1].physicalOffset - candidates[0].physicalOffset;
  return span <= candidates.length * GAP_BYTES_MAX;
}

/** Neighbours together. */
function spansOf(candidates: readonly Candidate[]): Candidate[][] {
  const spans: Candidate[][] = [];
  for (let first = 0; first < candidates.length;) {
    const end = spanEnd(candidates, first);
    spans.push(candidates.slice(first, end));
    first = end;
  }
  return spans;
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
function isRecord({ bytes, at, size }: RecordSlice, physicalOffset: number): boolean {
  return (
    readInt32(bytes, at) === size &&
    readInt32(bytes, at + MAGIC_AT) === MESSAGE_MAGIC &&
    readInt64(bytes, at + PHYSICAL_OFFSET_AT) === physicalOffset
  );
}
