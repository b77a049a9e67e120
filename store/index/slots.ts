import { INDEX_HEADER_BYTES, SLOT_BYTES } from './layout.js';

const PAGE_SLOTS = 1024;
const PAGE_BYTES = PAGE_SLOTS * SLOT_BYTES;
const littleEndian = new Uint8Array(new Int32Array([1]).buffer)[0] === 1;

/** A word as the file has it, big-endian, and back. */
const turned = littleEndian
  ? (word: number): number => (word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24)
  : (word: number): number => word;

/**
 * The active file's slots in memory that all threads see, byte for byte as they stand in the file. One thread writes; another that
 * reads sees whole words.
 */
export class Slots {
  readonly #words: Int32Array;
  readonly #bytes: Buffer;
  /** One byte per page that differs from the file. */
  readonly #dirty: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#bytes = Buffer.from(memory);
    this.#dirty = new Uint8Array(Math.ceil(this.#words.length / PAGE_SLOTS));
  }

  static allocate(slots: number): SharedArrayBuffer {
    return new SharedArrayBuffer(slots * SLOT_BYTES);
  }

  get(slot: number): number {
    return turned(this.#words[slot] as number);
  }

  set(slot: number, entry: number): void {
    this.#words[slot] = turned(entry);
    this.#dirty[slot >>> 10] = 1;
  }

  /** For a new file, whose slots are zeros. */
  clear(): void {
    this.#words.fill(0);
    this.#dirty.fill(0);
  }

  /** Takes in what the file has. Entries from `next` on are none, whatever a slot says: they would be taken for later ones. */
  load(read: (target: Buffer, length: number, position: number) => void, next: number): void {
    read(this.#bytes, this.#bytes.length, INDEX_HEADER_BYTES);
    this.#dirty.fill(0);
    for (let slot = 0; slot < this.#words.length; slot++) {
      const entry = this.get(slot);
      if (entry < 0 || entry >= next) this.set(slot, 0);
    }
  }

  /** Hands over each run of pages that differ from the file; afterwards none does, if no call throws. */
  writeDirty(write: (bytes: Buffer, start: number, length: number, position: number) => void): void {
    for (let page = 0; page < this.#dirty.length;) {
      if (this.#dirty[page] === 0) {
        page++;
        continue;
      }
      const first = page;
      while (page < this.#dirty.length && this.#dirty[page] === 1) page++;
      const start = first * PAGE_BYTES;
      const length = Math.min(page * PAGE_BYTES, this.#bytes.length) - start;
      write(this.#bytes, start, length, INDEX_HEADER_BYTES + start);
    }
    this.#dirty.fill(0);
  }
}
