/** Ops of one chunk at most; the cursor stands at the beginning of one, or at the end. */
const CHUNK_OPS = 1024;

interface Chunk {
  readonly start: number;
  /** The highest half that an op of this chunk names. */
  half: number;
}

/** The op records that were read, as far as they tell of halves that are not all settled: so much is read again after a restart. */
export class OpTrail {
  #chunks: Chunk[] = [];
  #first = 0;
  /** Of the next op to read. */
  #end: number;

  constructor(start: number) {
    this.#end = start;
  }

  get end(): number {
    return this.#end;
  }

  /** The op at `end` names this half, or -1 when it names none. */
  add(half: number): void {
    const last = this.#chunks.at(-1);
    if (last !== undefined && this.#end - last.start < CHUNK_OPS) last.half = Math.max(last.half, half);
    else this.#chunks.push({ start: this.#end, half });
    this.#end++;
  }

  /** Nothing is there up to this op. */
  skipTo(end: number): void {
    if (end <= this.#end) return;
    this.#end = end;
  }

  /** All ops below the returned offset name halves below `halfCursor`. */
  settledBelow(halfCursor: number): number {
    const chunks = this.#chunks;
    while (this.#first < chunks.length && chunks[this.#first].half < halfCursor) this.#first++;
    if (this.#first > 1024 || this.#first === chunks.length) {
      this.#chunks = chunks.slice(this.#first);
      this.#first = 0;
    }
    return this.#chunks[this.#first]?.start ?? this.#end;
  }
}
