import { UNIT_BYTES, isRecordUnit, unitPhysicalOffset, unitSize, unitTagsCode } from '../../store/consumequeue/unit.js';
import type { CompiledFilter } from '../filter/contract.js';
import type { Candidate } from './record-source.js';

/** Goes through one pull's ConsumeQueue units. */
export class UnitWalk {
  /** Units that are done with. */
  taken = 0;
  /** Physical offset of the last unit looked at. */
  lastPhysical = 0;
  #resumeAt = -1;

  constructor(
    private readonly units: Buffer,
    private readonly filter: CompiledFilter,
    private readonly isFull: (messages: number, bytes: number, candidate: Candidate) => boolean,
  ) {}

  /** Goes back to a unit; those whose records lie below `physicalOffset` are passed over. */
  resume(unit: number, physicalOffset: number): void {
    this.taken = unit;
    this.#resumeAt = physicalOffset;
  }

  /** The next units that pass by the tags code, as many as the answer has room for beside what it holds. */
  candidates(messages: number, bytes: number): Candidate[] {
    const { units, filter } = this;
    const found: Candidate[] = [];
    let total = bytes;
    for (; this.taken * UNIT_BYTES < units.length; this.taken++) {
      const at = this.taken * UNIT_BYTES;
      const candidate = { unit: this.taken, physicalOffset: unitPhysicalOffset(units, at), size: unitSize(units, at) };
      this.lastPhysical = candidate.physicalOffset;
      if (candidate.physicalOffset < this.#resumeAt || !isRecordUnit(units, at)) continue;
      if (this.isFull(messages + found.length, total, candidate)) break;
      if (filter.matchesTagsCode?.(unitTagsCode(units, at)) === false) continue;
      found.push(candidate);
      total += candidate.size;
    }
    return found;
  }
}
