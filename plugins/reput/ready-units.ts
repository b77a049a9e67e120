import { isRecordUnit, UNIT_BYTES, unitPhysicalOffset } from '../../store/consumequeue/unit.js';
import type { LogReader } from '../commitlog/contract.js';
import { KeptRows } from './kept-rows.js';

const ROWS_FIRST = 1024;

/**
 * Which units can be read at once: those behind one whose record lies near the log's tail, since they were written later, and those that
 * were brought.
 */
export class ReadyUnits {
  /** Per row: the queue offset of a unit near the tail, and where its record lies. */
  #near = new Float64Array(2 * ROWS_FIRST);
  readonly #brought = new KeptRows<{ readonly from: number; readonly end: number }>();

  constructor(private readonly log: Pick<LogReader, 'isHot' | 'maxOffset'>) {}

  has(row: number, offset: number, count: number): boolean {
    const at = 2 * row;
    if (at < this.#near.length && offset >= this.#near[at] && this.log.isHot(this.#near[at + 1])) return true;
    const brought = this.#brought.get(row);
    return brought !== undefined && offset >= brought.from && offset + count <= brought.end;
  }

  /** Units that were read, from `offset` on: the first `bytes` of `units`. */
  learn(row: number, offset: number, units: Buffer, bytes: number): void {
    if (bytes === 0 || !isRecordUnit(units, 0)) return;
    const physicalOffset = unitPhysicalOffset(units, 0);
    if (!this.#isVeryNear(physicalOffset)) return;
    const at = 2 * row;
    if (at >= this.#near.length) this.#grow(at);
    if (offset >= this.#near[at] && this.#isVeryNear(this.#near[at + 1])) return;
    this.#near[at] = offset;
    this.#near[at + 1] = physicalOffset;
  }

  /** The same, of units that were not ready. */
  brought(row: number, offset: number, units: Buffer): void {
    this.learn(row, offset, units, units.length);
    this.#brought.keep(row, { from: offset, end: offset + units.length / UNIT_BYTES });
  }

  /** Twice as far from the tail would still be near it: a mark is replaced before it is of no use any more. */
  #isVeryNear(physicalOffset: number): boolean {
    return this.log.isHot(2 * physicalOffset - this.log.maxOffset);
  }

  #grow(at: number): void {
    const larger = new Float64Array(Math.max(2 * this.#near.length, at + 2));
    larger.set(this.#near);
    this.#near = larger;
  }
}
