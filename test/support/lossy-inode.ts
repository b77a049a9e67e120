import type { SeededRandom } from './seeded-random.js';

const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;

/** How a power cut treats what was not synced. */
export type Loss = 'random' | 'everything' | 'nothing';

/** A file's bytes twice: as programs see them, and as they are on the platter. */
export class LossyInode {
  readonly #pages = new Map<number, Buffer>();
  readonly #durable = new Map<number, Buffer>();
  readonly #dirty = new Set<number>();
  size = 0;
  durableSize = 0;

  read(target: Uint8Array, targetOffset: number, length: number, position: number): number {
    const total = Math.max(0, Math.min(length, this.size - position));
    for (let done = 0; done < total;) {
      const at = position + done;
      const inPage = at % PAGE_BYTES;
      const count = Math.min(PAGE_BYTES - inPage, total - done);
      const page = this.#pages.get(Math.floor(at / PAGE_BYTES));
      if (page === undefined) target.fill(0, targetOffset + done, targetOffset + done + count);
      else target.set(page.subarray(inPage, inPage + count), targetOffset + done);
      done += count;
    }
    return total;
  }

  write(source: Uint8Array, sourceOffset: number, length: number, position: number): void {
    for (let done = 0; done < length;) {
      const at = position + done;
      const inPage = at % PAGE_BYTES;
      const count = Math.min(PAGE_BYTES - inPage, length - done);
      const index = Math.floor(at / PAGE_BYTES);
      let page = this.#pages.get(index);
      if (page === undefined) this.#pages.set(index, (page = Buffer.alloc(PAGE_BYTES)));
      page.set(source.subarray(sourceOffset + done, sourceOffset + done + count), inPage);
      this.#dirty.add(index);
      done += count;
    }
    this.size = Math.max(this.size, position + length);
  }

  truncate(size: number): void {
    cutPages(this.#pages, size);
    for (const index of this.#dirty) if (index * PAGE_BYTES >= size) this.#dirty.delete(index);
    this.size = size;
  }

  /** The journal's part of a truncation. */
  truncateDurable(size: number): void {
    cutPages(this.#durable, size);
    this.durableSize = size;
  }

  sync(): void {
    for (const index of this.#dirty) this.#persist(index, this.#page(index));
    this.#dirty.clear();
    this.durableSize = this.size;
  }

  /** Linux: a failed sync drops the dirty marks; a later sync succeeds and has not written these pages. */
  forgetDirty(): void {
    this.#dirty.clear();
  }

  /** What a power cut leaves, as a new file. */
  survivor(loss: Loss, random: SeededRandom): LossyInode {
    if (this.size > this.durableSize && this.#dirty.size > 0 && keeps(loss, random)) this.durableSize = this.size;
    for (const index of this.#dirty) this.#loseSome(index, loss, random);
    cutPages(this.#durable, this.durableSize);
    const next = new LossyInode();
    next.size = next.durableSize = this.durableSize;
    for (const [index, page] of this.#durable) {
      next.#durable.set(index, Buffer.from(page));
      next.#pages.set(index, Buffer.from(page));
    }
    return next;
  }

  /** A page is written whole, not at all, or in part by sectors. */
  #loseSome(index: number, loss: Loss, random: SeededRandom): void {
    if (loss === 'everything') return;
    const page = this.#page(index);
    if (loss === 'nothing' || random.chance(0.4)) return this.#persist(index, page);
    if (random.chance(0.5)) return;
    const torn = Buffer.from(this.#durable.get(index) ?? Buffer.alloc(PAGE_BYTES));
    for (let sector = 0; sector < PAGE_BYTES; sector += SECTOR_BYTES) {
      if (random.chance(0.5)) page.copy(torn, sector, sector, sector + SECTOR_BYTES);
    }
    this.#persist(index, torn);
  }

  #persist(index: number, page: Buffer): void {
    this.#durable.set(index, Buffer.from(page));
  }

  #page(index: number): Buffer {
    return this.#pages.get(index) ?? Buffer.alloc(PAGE_BYTES);
  }
}

function keeps(loss: Loss, random: SeededRandom): boolean {
  return loss === 'nothing' || (loss === 'random' && random.chance(0.5));
}

function cutPages(pages: Map<number, Buffer>, size: number): void {
  for (const index of [...pages.keys()]) if (index * PAGE_BYTES >= size) pages.delete(index);
  pages.get(Math.floor(size / PAGE_BYTES))?.fill(0, size % PAGE_BYTES);
}
