import { viewOf } from '../../protocol/copy.js';
import { getInt64 } from '../../protocol/int64.js';
import { extOffsetIn } from '../../store/consumequeue/ext-unit.js';
import { UNIT_BYTES, isRecordAt } from '../../store/consumequeue/unit.js';
import type { CompiledFilter } from '../filter/contract.js';
import type { ExtLook } from '../reput/contract.js';
import type { Candidate } from './record-source.js';

/** Units of one pull whose records are read, at most (4.9: 16,000 bytes of the ConsumeQueue), unless it asks for more messages. */
const CANDIDATES_MAX = 800;
/** 4.9 looks at as many as are asked for, whatever number that is. */
const ASKED_MAX = 8192;
/** Units looked at, at most, unless it asks for more messages: those that do not match by the queue alone cost little. */
export const UNITS_MAX = 8 * CANDIDATES_MAX;
/** Units asked for at a time: most pulls are full before the first piece ends. */
const PIECE_UNITS = 64;
const LATER_PIECE_UNITS = 1024;

/** Asks a filter about the unit at `at`. A message whose ext unit is missing passes. */
export function unitMayMatch(
  matchesTagsCode: NonNullable<CompiledFilter['matchesTagsCode']>,
  units: DataView,
  at: number,
  ext: ExtLook,
): boolean {
  const low = units.getInt32(at + 16);
  const extOffset = extOffsetIn(units.getInt32(at + 12), low);
  if (extOffset < 0) return matchesTagsCode(low);
  const place = ext(extOffset);
  return place === undefined || matchesTagsCode(place.tagsLow, place);
}

export function unitsMax(maxMessages: number): number {
  return Math.max(UNITS_MAX, candidatesMax(maxMessages));
}

function candidatesMax(maxMessages: number): number {
  return Math.max(CANDIDATES_MAX, Math.min(maxMessages, ASKED_MAX));
}

/** Whether one more message is too much for an answer that has so many. */
export type IsFull = (messages: number, bytes: number, physicalOffset: number, size: number) => boolean;

/** Goes through one pull's ConsumeQueue units. */
export class UnitWalk {
  /** Units that are done with. */
  taken = 0;
  /** Physical offset of the last unit looked at. */
  lastPhysical = 0;
  #piece: DataView;
  #pieceFirst = 0;
  #pieceBytes: number;
  #pieceWanted = PIECE_UNITS;
  #resumeAt = -1;
  #candidates = 0;
  readonly #unitsMax: number;
  readonly #candidatesMax: number;

  /** `fetch` reads up to `count` units, the first being the pull's unit number `from`. */
  constructor(
    private readonly fetch: (from: number, count: number) => Buffer,
    private readonly ext: ExtLook,
    private readonly filter: CompiledFilter,
    private readonly isFull: IsFull,
    maxMessages: number,
  ) {
    this.#unitsMax = unitsMax(maxMessages);
    this.#candidatesMax = candidatesMax(maxMessages);
    const piece = fetch(0, PIECE_UNITS);
    this.#piece = viewOf(piece);
    this.#pieceBytes = piece.length;
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

  /** After others may have read queues: what was read of this one is not there any more. */
  refresh(): void {
    this.#read(this.taken, Math.max(0, Math.min(LATER_PIECE_UNITS, this.#unitsMax - this.taken)));
  }

  /** The next units that pass by the tags code, as many as the answer has room for beside what it holds. */
  candidates(messages: number, bytes: number): Candidate[] {
    const matchesTagsCode = this.filter.everything === true ? undefined : this.filter.matchesTagsCode;
    const found: Candidate[] = [];
    // Full: the next pull begins right behind the last one taken, as in 4.9, however far it is to one that matches.
    if (this.isFull(messages, bytes, this.lastPhysical, 0)) return found;
    let total = bytes;
    for (let at = this.#next(); at >= 0 && this.#candidates < this.#candidatesMax; this.taken++, at = this.#next()) {
      const piece = this.#piece;
      this.lastPhysical = getInt64(piece, at);
      if (!isRecordAt(piece, at)) continue;
      if (matchesTagsCode !== undefined && !unitMayMatch(matchesTagsCode, piece, at, this.ext)) continue;
      const physicalOffset = this.lastPhysical;
      if (physicalOffset < this.#resumeAt) continue;
      const size = piece.getInt32(at + 8);
      if (this.isFull(messages + found.length, total, physicalOffset, size)) break;
      found.push({ unit: this.taken, physicalOffset, size });
      total += size;
      this.#candidates++;
      if (matchesTagsCode !== undefined && this.isFull(messages + found.length, total, physicalOffset, 0)) {
        this.taken++;
        break;
      }
    }
    return found;
  }

  /** Where the next unit stands in the piece, or -1 at the end. */
  #next(): number {
    const at = (this.taken - this.#pieceFirst) * UNIT_BYTES;
    if (at < this.#pieceBytes) return at;
    if (this.taken >= this.#unitsMax || this.#pieceBytes < this.#pieceWanted * UNIT_BYTES) return -1;
    this.#read(this.taken, Math.min(LATER_PIECE_UNITS, this.#unitsMax - this.taken));
    return this.#pieceBytes > 0 ? 0 : -1;
  }

  #read(unit: number, count: number): void {
    this.#pieceFirst = unit;
    this.#pieceWanted = count;
    const piece = this.fetch(unit, count);
    this.#piece = viewOf(piece);
    this.#pieceBytes = piece.length;
  }
}
