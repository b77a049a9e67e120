/** Offsets of one block: as bits, or, when they are few, as a list. */
interface Block {
  count: number;
  /** A bit for each offset of the block; undefined: see `list`. */
  bits: Uint32Array | undefined;
  /** The offsets from the block's first one on, ascending; the first `count` count. */
  list: Uint16Array;
}

/** What one block holds, for a file. */
export interface BlockContent {
  /** Its first offset is so many blocks from 0. */
  readonly index: number;
  readonly form: 'bits' | 'list';
  /** Little-endian words, of 32 or 16 bits. */
  readonly bytes: Buffer;
}

/** Offsets of one block. */
export const BLOCK_OFFSETS = 65_536;
const WORDS = BLOCK_OFFSETS / 32;
/** Fewer are a list, which is half as long then as the bits. */
const LIST_MAX = 2048;
const NO_LIST = new Uint16Array(0);

/**
 * A set of queue offsets, of which long stretches are in it and others not at all: a bit each where they are dense, two bytes each where
 * they are not, nothing for blocks without any (as in Roaring bitmaps).
 */
export class OffsetSet {
  readonly #blocks = new Map<number, Block>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  has(offset: number): boolean {
    const block = this.#blocks.get(Math.floor(offset / BLOCK_OFFSETS));
    if (block === undefined) return false;
    const inBlock = offset % BLOCK_OFFSETS;
    if (block.bits !== undefined) return (block.bits[inBlock >> 5] & (1 << (inBlock & 31))) !== 0;
    const at = placeIn(block, inBlock);
    return at < block.count && block.list[at] === inBlock;
  }

  add(offset: number): void {
    const index = Math.floor(offset / BLOCK_OFFSETS);
    let block = this.#blocks.get(index);
    if (block === undefined) this.#blocks.set(index, (block = { count: 0, bits: undefined, list: NO_LIST }));
    const bits = (block.bits ??= toBits(block));
    block.list = NO_LIST;
    const inBlock = offset % BLOCK_OFFSETS;
    const bit = 1 << (inBlock & 31);
    if ((bits[inBlock >> 5] & bit) !== 0) return;
    bits[inBlock >> 5] |= bit;
    block.count++;
    this.#count++;
  }

  /** False when it is not in it. */
  delete(offset: number): boolean {
    const index = Math.floor(offset / BLOCK_OFFSETS);
    const block = this.#blocks.get(index);
    if (block === undefined || !deleteFrom(block, offset % BLOCK_OFFSETS)) return false;
    block.count--;
    this.#count--;
    if (block.count === 0) this.#blocks.delete(index);
    else if (block.bits !== undefined && block.count < LIST_MAX) toList(block, block.bits);
    return true;
  }

  /** Blocks that hold any, ascending. */
  indexes(): number[] {
    return [...this.#blocks.keys()].sort((a, b) => a - b);
  }

  /** The smallest, or undefined. */
  get first(): number | undefined {
    let index = Number.POSITIVE_INFINITY;
    for (const other of this.#blocks.keys()) index = Math.min(index, other);
    const block = this.#blocks.get(index);
    if (block === undefined) return undefined;
    if (block.bits === undefined) return index * BLOCK_OFFSETS + block.list[0];
    const word = block.bits.findIndex((bits) => bits !== 0);
    return index * BLOCK_OFFSETS + word * 32 + lowestBit(block.bits[word]);
  }

  /** Those of one block, ascending. */
  offsetsIn(index: number): number[] {
    const block = this.#blocks.get(index);
    if (block === undefined) return [];
    const list = block.bits === undefined ? block.list.subarray(0, block.count) : listOf(block.count, block.bits);
    return Array.from(list, (inBlock) => index * BLOCK_OFFSETS + inBlock);
  }

  contents(): BlockContent[] {
    return this.indexes().map((index) => {
      const { bits, list, count } = this.#blocks.get(index)!;
      const words = bits ?? list.subarray(0, count);
      const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
      return { index, form: bits === undefined ? 'list' : 'bits', bytes };
    });
  }

  /** Takes in a block that is not there yet; throws when that is none. */
  put({ index, form, bytes }: BlockContent): void {
    const ok = form === 'bits' ? bytes.length === WORDS * 4 : bytes.length % 2 === 0 && bytes.length > 0;
    if (!ok || this.#blocks.has(index)) throw new RangeError(`block ${index} of offsets is damaged`);
    // A copy, since words must lie at multiples of their size.
    const { buffer } = new Uint8Array(bytes);
    const block: Block =
      form === 'bits'
        ? { count: 0, bits: new Uint32Array(buffer), list: NO_LIST }
        : { count: bytes.length / 2, bits: undefined, list: new Uint16Array(buffer) };
    if (block.bits !== undefined) for (const word of block.bits) block.count += bitsIn(word);
    this.#blocks.set(index, block);
    this.#count += block.count;
  }
}

/** Where the offset stands in the list, or would. */
function placeIn({ list, count }: Block, inBlock: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < inBlock) low = middle + 1;
    else high = middle;
  }
  return low;
}

function deleteFrom(block: Block, inBlock: number): boolean {
  const { bits, list, count } = block;
  if (bits !== undefined) {
    const bit = 1 << (inBlock & 31);
    if ((bits[inBlock >> 5] & bit) === 0) return false;
    bits[inBlock >> 5] &= ~bit;
    return true;
  }
  const at = placeIn(block, inBlock);
  if (at >= count || list[at] !== inBlock) return false;
  list.copyWithin(at, at + 1, count);
  return true;
}

function toBits({ list, count }: Block): Uint32Array {
  const bits = new Uint32Array(WORDS);
  for (let i = 0; i < count; i++) bits[list[i] >> 5] |= 1 << (list[i] & 31);
  return bits;
}

function toList(block: Block, bits: Uint32Array): void {
  block.list = listOf(block.count, bits);
  block.bits = undefined;
}

function listOf(count: number, bits: Uint32Array): Uint16Array {
  const list = new Uint16Array(count);
  let at = 0;
  for (let word = 0; word < WORDS; word++)
    for (let rest = bits[word]; rest !== 0; rest &= rest - 1) list[at++] = word * 32 + lowestBit(rest);
  return list;
}

/** Of a word that is not 0. */
function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

function bitsIn(word: number): number {
  let bits = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
