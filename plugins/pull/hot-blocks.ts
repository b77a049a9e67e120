import { KernelError } from '../../kernel/base/errors.js';
import type { LogReader } from '../commitlog/contract.js';
import type { ColdReads } from './cold-reads.js';

const BLOCK_BYTES = 256 * 1024;
const BLOCKS_MAX = 64;

/** One aligned piece of the log; `bytes[from, valid)` is filled. */
interface Block {
  readonly base: number;
  readonly bytes: Buffer;
  readonly from: number;
  valid: number;
  /** The round that used it last. */
  round: number;
}

const noBlock: Block = { base: 0, bytes: Buffer.alloc(0), from: 0, valid: 0, round: 0 };

/** A record, or several that follow each other, where they lie in memory; valid within its round. */
export interface RecordSlice {
  readonly bytes: Buffer;
  readonly at: number;
  size: number;
}

/**
 * The last pieces of the log that pulls read. Queues that grow together are read together, and their records lie between each other:
 * what one pull fetched serves the next seven. The log never changes below its end, so what is here stays true.
 */
export class HotBlocks {
  /** By base; the one fetched first stands first. */
  readonly #blocks = new Map<number, Block>();
  /** Reads under way, by the base of each block that they bring. */
  readonly #fetching = new Map<number, Promise<void>>();
  #round = 0;
  /** The block that the last record came from: the next one mostly lies there, too. */
  #last = noBlock;

  constructor(
    private readonly log: LogReader,
    private readonly reads: ColdReads,
  ) {}

  /** What was handed out before may be overwritten from here on. */
  beginRound(): void {
    this.#round++;
  }

  /** The record, or undefined when it is not here and `load` does not ask to fetch it. Throws KernelError as the log does. */
  record(physicalOffset: number, size: number, load: boolean): RecordSlice | undefined {
    const last = this.#last;
    const near = physicalOffset - last.base;
    if (near >= last.from && near + size <= last.valid) {
      last.round = this.#round;
      return { bytes: last.bytes, at: near, size };
    }
    const at = physicalOffset % BLOCK_BYTES;
    const block = this.#filled(physicalOffset - at, at, Math.min(at + size, BLOCK_BYTES), load);
    if (block === undefined) return undefined;
    if (at + size <= BLOCK_BYTES) return { bytes: block.bytes, at, size };
    return this.#across(block, at, size, load);
  }

  /** True when the record is here already. */
  holds(physicalOffset: number, size: number): boolean {
    const first = physicalOffset - (physicalOffset % BLOCK_BYTES);
    for (let base = first; base < physicalOffset + size; base += BLOCK_BYTES) {
      const block = this.#blocks.get(base);
      const start = Math.max(0, physicalOffset - base);
      if (block === undefined || start < block.from) return false;
      if (block.valid < Math.min(physicalOffset + size - base, BLOCK_BYTES)) return false;
    }
    return true;
  }

  /**
   * Brings the record and what follows it without holding the thread; pulls that want the same wait for the same read. It may not be
   * here afterwards: when it is gone, or when others needed the place.
   */
  async fetch(physicalOffset: number, size: number): Promise<void> {
    const first = physicalOffset - (physicalOffset % BLOCK_BYTES);
    for (let base = first; base < physicalOffset + size; base += BLOCK_BYTES) {
      if (!this.#blocks.has(base)) await (this.#fetching.get(base) ?? this.#fetchBlock(base));
    }
  }

  /** Who reads far behind the tail reads on: the block behind the one that was needed comes before it is asked for. */
  ahead(physicalOffset: number): void {
    const base = physicalOffset - (physicalOffset % BLOCK_BYTES) + BLOCK_BYTES;
    if (base >= this.log.maxOffset || this.#blocks.has(base) || this.#fetching.has(base)) return;
    if (!this.reads.isFree) return;
    // Nobody waits for it: whoever needs the block reads it again, and is told when the disk fails.
    this.#fetchBlock(base).catch(() => undefined);
  }

  #fetchBlock(base: number): Promise<void> {
    const read = this.reads.run(() => this.#readBlock(base)).finally(() => this.#fetching.delete(base));
    this.#fetching.set(base, read);
    return read;
  }

  async #readBlock(base: number): Promise<void> {
    const from = Math.max(0, this.log.minOffset - base);
    const valid = Math.min(BLOCK_BYTES, this.log.maxOffset - base);
    const bytes = this.#spare();
    try {
      await this.log.readIntoAsync(bytes, from, valid - from, base + from);
      this.#blocks.set(base, { base, bytes, from, valid, round: 0 });
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
    }
  }

  /** A record that begins in one block and ends in another. */
  #across(first: Block, at: number, size: number, load: boolean): RecordSlice | undefined {
    const bytes = Buffer.allocUnsafe(size);
    let done = first.bytes.copy(bytes, 0, at, BLOCK_BYTES);
    for (let base = first.base + BLOCK_BYTES; done < size; base += BLOCK_BYTES) {
      const block = this.#filled(base, 0, Math.min(size - done, BLOCK_BYTES), load);
      if (block === undefined) return undefined;
      done += block.bytes.copy(bytes, done, 0, Math.min(size - done, BLOCK_BYTES));
    }
    return { bytes, at: 0, size };
  }

  /** The block at `base` with its bytes [start, end). */
  #filled(base: number, start: number, end: number, load: boolean): Block | undefined {
    let block = this.#blocks.get(base);
    if (block === undefined) {
      if (!load) return undefined;
      const from = Math.max(0, this.log.minOffset - base);
      block = { base, bytes: this.#spare(), from, valid: from, round: 0 };
      this.#blocks.set(base, block);
    }
    if (start < block.from) return undefined;
    if (block.valid < end) this.#extend(block);
    if (block.valid < end) return undefined;
    block.round = this.#round;
    this.#last = block;
    return block;
  }

  #extend(block: Block): void {
    const end = Math.min(BLOCK_BYTES, this.log.maxOffset - block.base);
    this.log.readInto(block.bytes, block.valid, end - block.valid, block.base + block.valid);
    block.valid = end;
  }

  /** Makes room for one more block. Memory of the one fetched first that this round handed out nothing of, when there are enough. */
  #spare(): Buffer {
    let spare: Buffer | undefined;
    for (const [base, { bytes, round }] of this.#blocks) {
      if (this.#blocks.size < BLOCKS_MAX) break;
      if (round === this.#round) continue;
      this.#blocks.delete(base);
      if (base === this.#last.base) this.#last = noBlock;
      spare = bytes;
    }
    return spare ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }
}
