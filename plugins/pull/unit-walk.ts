import { UNIT_BYTES, isRecordUnit, unitPhysicalOffset, unitSize, unitTagsCode } from '../../store/consumequeue/unit.js';
import { isExtAddress, type ExtUnit } from '../../store/consumequeue/ext-unit.js';
import type { CompiledFilter } from '../filter/contract.js';
import type { Candidate } from './record-source.js';

/** Units looked at for one pull at most (4.9: 16,000 bytes of the ConsumeQueue), unless it asks for more messages. */
export const UNITS_MAX = 800;
/** 4.9 looks at as many as are asked for, whatever number that is. */
const UNITS_ASKED_MAX = 8192;
/** Units asked for at a time: most pulls are full before the first piece ends. */
const PIECE_UNITS = 64;

/** Asks a filter about a unit's tags code; `extUnit` finds the ext unit of an address. One that is missing lets the message pass. */
export function unitMayMatch(
  matchesTagsCode: (tagsCode: bigint, extension?: ExtUnit) => boolean,
  code: bigint,
  extUnit: (address: bigint) => ExtUnit | undefined,
): boolean {
  if (!isExtAddress(code)) return matchesTagsCode(code);
  const unit = extUnit(code);
  return unit === undefined || matchesTagsCode(unit.tagsCode, unit);
}

export function unitsMax(maxMessages: number): number {
  return Math.max(UNITS_MAX, Math.min(maxMessages, UNITS_ASKED_MAX));
}

/** Goes through one pull's ConsumeQueue units. */
export class UnitWalk {
  /** Units that are done with. */
  taken = 0;
  /** Physical offset of the last unit looked at. */
  lastPhysical = 0;
  #piece: Buffer;
  #pieceFirst = 0;
  #pieceBytes: number;
  #resumeAt = -1;

  /** `fetch` reads up to `count` units, the first being the pull's unit number `from`. */
  constructor(
    private readonly fetch: (from: number, count: number) => Buffer,
    private readonly extUnit: (address: bigint) => ExtUnit | undefined,
    private readonly filter: CompiledFilter,
    private readonly isFull: (messages: number, bytes: number, candidate: Candidate) => boolean,
    private readonly unitsMax: number,
  ) {
    this.#piece = fetch(0, PIECE_UNITS);
    this.#pieceBytes = this.#piece.length;
  }

  /** There is no unit at all. */
  get isEmpty(): boolean {
    return this.#pieceBytes === 0;
  }

  /** Goes back to a unit; those whose records lie below `physicalOffset` are passed over. */
  resume(unit: number, physicalOffset: number): void {
    this.taken = unit;
    this.#resumeAt = physicalOffset;
    if (unit < this.#pieceFirst) this.#read(unit, PIECE_UNITS);
  }

  /** The next units that pass by the tags code, as many as the answer has room for beside what it holds. */
  candidates(messages: number, bytes: number): Candidate[] {
    const matchesTagsCode = this.filter.everything === true ? undefined : this.filter.matchesTagsCode;
    const found: Candidate[] = [];
    let total = bytes;
    for (let at = this.#next(); at >= 0; this.taken++, at = this.#next()) {
      const piece = this.#piece;
      const candidate = { unit: this.taken, physicalOffset: unitPhysicalOffset(piece, at), size: unitSize(piece, at) };
      this.lastPhysical = candidate.physicalOffset;
      if (candidate.physicalOffset < this.#resumeAt || !isRecordUnit(piece, at)) continue;
      if (this.isFull(messages + found.length, total, candidate)) break;
      if (matchesTagsCode !== undefined && !unitMayMatch(matchesTagsCode, unitTagsCode(piece, at), this.extUnit))
        continue;
      found.push(candidate);
      total += candidate.size;
    }
    return found;
  }

  /** Where the next unit stands in the piece, or -1 at the end. */
  #next(): number {
    const at = (this.taken - this.#pieceFirst) * UNIT_BYTES;
    if (at < this.#pieceBytes) return at;
    if (this.taken >= this.unitsMax || this.#pieceBytes < PIECE_UNITS * UNIT_BYTES) return -1;
    this.#read(this.taken, Math.min(PIECE_UNITS, this.unitsMax - this.taken));
    return this.#pieceBytes > 0 ? 0 : -1;
  }

  #read(unit: number, count: number): void {
    this.#pieceFirst = unit;
    this.#piece = this.fetch(unit, count);
    this.#pieceBytes = this.#piece.length;
  }
}
