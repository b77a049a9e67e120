import type { QueueTableMemory } from '../../kernel/ring/queue-table.js';
import type { StoreEndCalls, StoreEndMemory } from '../../kernel/ring/store-end.js';
import type { LogLocation } from '../commitlog/contract.js';

export interface TransactionBoot {
  readonly log: LogLocation;
  readonly queueDir: string;
  /** Bytes of one ConsumeQueue file (mappedFileSizeConsumeQueue). */
  readonly queueFileBytes: number;
  readonly watermarks: SharedArrayBuffer;
  readonly queueTable: QueueTableMemory;
  readonly end: StoreEndMemory;
  /** See CheckWords. Where it says that scanning begins, a later life of the service goes on. */
  readonly words: SharedArrayBuffer;
  /** The broker itself: born and store host of the op records. */
  readonly host: { readonly address: Uint8Array; readonly port: number };
  /** A half is asked about when it is so old, ms, unless it says itself (transactionTimeOut). */
  readonly timeoutMs: number;
  /** After so many questions it is given up (transactionCheckMax). */
  readonly checkMax: number;
  /** Older ones are given up, too, ms (fileReservedTime). */
  readonly reservedMs: number;
  /** When so many halves lie behind the oldest open one, and most are settled, open ones are moved behind them. */
  readonly windowMax: number;
}

/** A half whose producers are to be asked. */
export interface Question {
  /** Of the half, or of its newest copy, in the queue of halves. */
  readonly queueOffset: number;
  readonly physicalOffset: number;
  /** Queue offset of the half that the producer sent. */
  readonly origin: number;
}

export interface TransactionCalls extends StoreEndCalls {
  /**
   * Looks at every open half once: asks about those that are due and have a live producer, gives up those that were asked too often or
   * are too old. Resolves when that is done; the questions are fetched meanwhile.
   */
  scan(liveGroups: readonly string[]): Promise<void>;
  /** At most `max` of the questions that wait. Mail comes when there are some. */
  takeQuestions(max: number): readonly Question[];
  /** Nobody could be asked: the next scan asks again, and does not count. */
  notAsked(queueOffsets: readonly number[]): void;
  /**
   * Appends the open halves that lie below the physical offset again, unasked; resolves to the offset below which none lies then: less
   * than asked for when some could not be stored.
   */
  moveBelow(physicalOffset: number): Promise<number>;
}

/** Shared 64-bit words of the check; one writer, the service. Offsets that only grow. */
export class CheckWords {
  static allocate(halfOffset: number, opOffset: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(4 * BigInt64Array.BYTES_PER_ELEMENT);
    new CheckWords(memory).move(halfOffset, opOffset, 0);
    return memory;
  }

  readonly #words: BigInt64Array;

  constructor(readonly memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory);
  }

  /** All halves below `half` are settled; op records below `op` tell of those alone, op records below `opsRead` are settled, too. */
  get cursors(): { readonly half: number; readonly op: number; readonly opsRead: number } {
    // The other way round than they are written: the op cursor never counts more than the half cursor that is read with it.
    const [opsRead, op] = [this.#get(2), this.#get(1)];
    return { half: this.#get(0), op, opsRead };
  }

  get open(): number {
    return this.#get(3);
  }

  move(half: number, op: number, opsRead: number): void {
    this.#set(0, half);
    this.#set(1, op);
    this.#set(2, opsRead);
  }

  setOpen(count: number): void {
    this.#set(3, count);
  }

  #get(word: number): number {
    return Number(Atomics.load(this.#words, word));
  }

  #set(word: number, value: number): void {
    Atomics.store(this.#words, word, BigInt(value));
  }
}
