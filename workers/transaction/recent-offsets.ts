const CHUNK_BITS = 32_768;

/** A set of queue offsets, which are dense: a bit each, in chunks. Beyond `chunksMax` the lowest are forgotten. */
export class RecentOffsets {
  readonly #chunks = new Map<number, Uint8Array>();

  constructor(private readonly chunksMax = Number.POSITIVE_INFINITY) {}

  has(offset: number): boolean {
    const chunk = this.#chunks.get(Math.floor(offset / CHUNK_BITS));
    return chunk !== undefined && (chunk[(offset % CHUNK_BITS) >> 3] & (1 << (offset & 7))) !== 0;
  }

  add(offset: number): void {
    const key = Math.floor(offset / CHUNK_BITS);
    let chunk = this.#chunks.get(key);
    if (chunk === undefined) {
      chunk = new Uint8Array(CHUNK_BITS / 8);
      this.#chunks.set(key, chunk);
      if (this.#chunks.size > this.chunksMax) this.#chunks.delete(Math.min(...this.#chunks.keys()));
    }
    chunk[(offset % CHUNK_BITS) >> 3] |= 1 << (offset & 7);
  }

  /** Forgets whole chunks below. */
  forgetBelow(offset: number): void {
    const first = Math.floor(offset / CHUNK_BITS);
    for (const key of this.#chunks.keys()) if (key < first) this.#chunks.delete(key);
  }
}
