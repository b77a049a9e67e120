import { unitExtOffset } from '../../store/consumequeue/ext-unit.js';
import { UNIT_BYTES, isRecordUnit, unitPhysicalOffset, unitSize, unitTagsLow } from '../../store/consumequeue/unit.js';
import type { CompiledFilter } from '../filter/contract.js';
import type { ExtLook } from '../reput/contract.js';
import type { Candidate } from './record-source.js';

/** Units looked at for one pull at most (4.9: 16,000 bytes of the ConsumeQueue). */
const UNITS_MAX = 800;
/** Units asked for at a time: most pulls are full before the first piece ends. */
const PIECE_UNITS = 64;

/** Asks a filter about the unit at `at`. A message whose ext unit is missing passes. */
export function unitMayMatch(
  matchesTagsCode: NonNullable<CompiledFilter['matchesTagsCode']>,
  units: Buffer,
  at: number,
  ext: ExtLook,
): boolean {
  const extOffset = unitExtOffset(units, at);
  if (extOffset < 0) return matchesTagsCode(unitTagsLow(units, at));
  const place = ext(extOffset);
  return place === undefined || matchesTagsCode(place.tagsLow, place);
}

/** Whether one more message is too much for an answer that has so many. */
export type IsFull = (messages: number, bytes: number, physicalOffset: number, size: number) => boolean;

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
    private readonly ext: ExtLook,
    private readonly filter: CompiledFilter,
    private readonly isFull: IsFull,
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
      const physicalOffset = unitPhysicalOffset(piece, at);
      this.lastPhysical = physicalOffset;
      if (physicalOffset < this.#resumeAt || !isRecordUnit(piece, at)) continue;
      const size = unitSize(piece, at);
      if (this.isFull(messages + found.length, total, physicalOffset, size)) break;
      if (matchesTagsCode !== undefined && !unitMayMatch(matchesTagsCode, piece, at, this.ext)) continue;
      found.push({ unit: this.taken, physicalOffset, size });
      total += size;
    }
    return found;
  }

  /** Where the next unit stands in the piece, or -1 at the end. */
  #next(): number {
    const at = (this.taken - this.#pieceFirst) * UNIT_BYTES;
    if (at < this.#pieceBytes) return at;
    if (this.taken >= UNITS_MAX || this.#pieceBytes < PIECE_UNITS * UNIT_BYTES) return -1;
    this.#read(this.taken, Math.min(PIECE_UNITS, UNITS_MAX - this.taken));
    return this.#pieceBytes > 0 ? 0 : -1;
  }

  #read(unit: number, count: number): void {
    this.#pieceFirst = unit;
    this.#piece = this.fetch(unit, count);
    this.#pieceBytes = this.#piece.length;
  }
}
