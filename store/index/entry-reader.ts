import { KernelError } from '../../kernel/base/errors.js';
import { readInt64 } from '../../protocol/int64.js';
import type { StoreFile } from '../files/contract.js';
import {
  ENTRY_BEFORE_AT,
  ENTRY_BYTES,
  ENTRY_OFFSET_AT,
  ENTRY_SECONDS_AT,
  entryAt,
  INDEX_HEADER_BYTES,
  type IndexLayout,
  SLOT_BYTES,
} from './layout.js';

/** Entries read at a time: of a key with many messages the next ones lie near before. */
const BLOCK_ENTRIES = 200;

/** Reads the entries of one file, the one looked at in its fields. */
export class EntryReader {
  hash = 0;
  physical = 0;
  seconds = 0;
  /** Number of the slot's entry before; 0 for none. */
  before = 0;
  readonly #block = Buffer.alloc(BLOCK_ENTRIES * ENTRY_BYTES);
  #first = 0;
  #count = 0;

  constructor(
    private readonly file: StoreFile,
    private readonly layout: IndexLayout,
  ) {}

  /** Number of a slot's newest entry, as the file has it. */
  slot(slot: number): number {
    const word = Buffer.alloc(SLOT_BYTES);
    this.file.read(word, 0, SLOT_BYTES, INDEX_HEADER_BYTES + slot * SLOT_BYTES);
    return word.readInt32BE(0);
  }

  read(number: number): void {
    if (number < this.#first || number >= this.#first + this.#count) this.#load(number);
    const at = (number - this.#first) * ENTRY_BYTES;
    this.hash = this.#block.readInt32BE(at);
    this.physical = readInt64(this.#block, at + ENTRY_OFFSET_AT);
    this.seconds = this.#block.readInt32BE(at + ENTRY_SECONDS_AT);
    this.before = this.#block.readInt32BE(at + ENTRY_BEFORE_AT);
  }

  close(): void {
    this.file.close();
  }

  /** The block that ends with this entry. */
  #load(number: number): void {
    this.#first = Math.max(1, number - BLOCK_ENTRIES + 1);
    this.#count = number - this.#first + 1;
    const length = this.#count * ENTRY_BYTES;
    if (this.file.read(this.#block, 0, length, entryAt(this.layout, this.#first)) < length)
      throw new KernelError('INDEX_SHORT', `${this.file.path} ends before entry ${number}`, {
        remedy: 'stop the broker and remove the folder index: it is built again from the commit log',
      });
  }
}
