import { KernelError } from '../base/errors.js';

/** Words of a row. One writer each, given behind the name. */
export const QueueWord = {
  /** commitlog: offset that the next record of this queue gets. */
  next: 0,
  /** reput: end of the entries that consumers may see. */
  dispatched: 1,
  /** retention: first offset still there. */
  minimum: 2,
} as const;
export type QueueWord = (typeof QueueWord)[keyof typeof QueueWord];

const WORDS_PER_ROW = 4;
const HEADER_BYTES = 8;

export interface QueueTableMemory {
  readonly rows: SharedArrayBuffer;
  /** Int32 row count, Int32 bytes used, then per row: queue id (4 bytes), topic length (1 byte), topic (Latin-1). */
  readonly names: SharedArrayBuffer;
}

/** Every (topic, queue id) with its offsets, in memory that all threads see. Rows are only added, by the kernel's thread. */
export class QueueTable {
  static allocate(rowsMax: number): QueueTableMemory {
    const rowBytes = WORDS_PER_ROW * BigInt64Array.BYTES_PER_ELEMENT;
    const nameBytes = 5 + 64;
    return {
      rows: new SharedArrayBuffer(1024 * rowBytes, { maxByteLength: rowsMax * rowBytes }),
      names: new SharedArrayBuffer(64 * 1024, { maxByteLength: HEADER_BYTES + rowsMax * nameBytes }),
    };
  }

  readonly memory: QueueTableMemory;
  readonly #words: BigInt64Array;
  readonly #rowByName = new Map<string, Map<number, number>>();
  readonly #topics: string[] = [];
  readonly #ids: number[] = [];
  #namesRead = HEADER_BYTES;

  constructor(memory: QueueTableMemory) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory.rows);
    this.sync();
  }

  /** Rows known to this thread. */
  get count(): number {
    return this.#topics.length;
  }

  /** Row of the queue, or -1. Looks for rows added by the kernel's thread since the last look. */
  find(topic: string, queueId: number): number {
    const row = this.#rowByName.get(topic)?.get(queueId);
    if (row !== undefined) return row;
    return this.sync() ? (this.#rowByName.get(topic)?.get(queueId) ?? -1) : -1;
  }

  /** Row of the queue, added when it is new. Kernel's thread only; throws when the table is full. */
  register(topic: string, queueId: number): number {
    const row = this.#rowByName.get(topic)?.get(queueId);
    return row ?? this.#add(topic, queueId);
  }

  /** A fresh row for a queue that was deleted: what comes from now on counts from 0. Kernel's thread only. */
  renew(topic: string, queueId: number): number {
    return this.#add(topic, queueId);
  }

  topicOf(row: number): string {
    this.#ensureKnown(row);
    return this.#topics[row];
  }

  queueIdOf(row: number): number {
    this.#ensureKnown(row);
    return this.#ids[row];
  }

  /** Queue ids of a topic, ascending. */
  idsOf(topic: string): number[] {
    this.sync();
    return [...(this.#rowByName.get(topic)?.keys() ?? [])].sort((a, b) => a - b);
  }

  topics(): string[] {
    this.sync();
    return [...this.#rowByName.keys()];
  }

  get(row: number, word: QueueWord): number {
    return Number(Atomics.load(this.#words, row * WORDS_PER_ROW + word));
  }

  /** The word's one writer only. */
  set(row: number, word: QueueWord, value: number): void {
    Atomics.store(this.#words, row * WORDS_PER_ROW + word, BigInt(value));
  }

  /** Reads rows that were added since the last call; true when there were any. */
  sync(): boolean {
    const header = new Int32Array(this.memory.names, 0, 2);
    const count = Atomics.load(header, 0);
    if (count === this.#topics.length) return false;
    const names = Buffer.from(this.memory.names);
    while (this.#topics.length < count) {
      const queueId = names.readInt32LE(this.#namesRead);
      const length = names[this.#namesRead + 4];
      const start = this.#namesRead + 5;
      this.#remember(names.toString('latin1', start, start + length), queueId);
      this.#namesRead = start + length;
    }
    return true;
  }

  #ensureKnown(row: number): void {
    if (row >= this.#topics.length) this.sync();
  }

  #remember(topic: string, queueId: number): number {
    const row = this.#topics.push(topic) - 1;
    this.#ids.push(queueId);
    let ids = this.#rowByName.get(topic);
    if (ids === undefined) this.#rowByName.set(topic, (ids = new Map()));
    ids.set(queueId, row);
    return row;
  }

  #add(topic: string, queueId: number): number {
    const row = this.#topics.length;
    const used = this.#namesRead;
    const bytes = 5 + topic.length;
    grow(this.memory.rows, (row + 1) * WORDS_PER_ROW * BigInt64Array.BYTES_PER_ELEMENT);
    grow(this.memory.names, used + bytes);
    const names = Buffer.from(this.memory.names);
    names.writeInt32LE(queueId, used);
    names[used + 4] = topic.length;
    names.write(topic, used + 5, 'latin1');
    this.#namesRead = used + bytes;
    this.#remember(topic, queueId);
    const header = new Int32Array(this.memory.names, 0, 2);
    Atomics.store(header, 1, used + bytes);
    Atomics.store(header, 0, row + 1);
    return row;
  }
}

function grow(memory: SharedArrayBuffer, bytes: number): void {
  if (bytes <= memory.byteLength) return;
  if (bytes > memory.maxByteLength)
    throw new KernelError(
      'QUEUE_TABLE_FULL',
      `no room for one more queue: the table holds ${memory.maxByteLength} bytes`,
      {
        remedy: 'delete unused topics or raise queueTableRowsMax',
      },
    );
  memory.grow(Math.min(memory.maxByteLength, Math.max(bytes, memory.byteLength * 2)));
}
