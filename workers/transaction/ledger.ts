import type { Op } from './op-record.js';
import { RecentOffsets } from './recent-offsets.js';
import { HalfState, OpenHalves, type HalfFacts } from './open-halves.js';

/** 64 million halves. */
const DECIDED_CHUNKS_MAX = 2048;

/**
 * Which halves are open, by what the ops say. An op is read before or after its half. One of the service's own says that the half has a
 * copy in its place, or was given up; any other that its transaction was decided – by the coordinates of this half, or of any copy.
 */
export class HalfLedger {
  readonly open = new OpenHalves();
  /** Halves that an op of a client's decision names, and the origins of those. */
  readonly #decided = new RecentOffsets(DECIDED_CHUNKS_MAX);
  /** Halves to come that an own op names. */
  readonly #replaced = new RecentOffsets();
  /** Decided by coordinates that have a copy in their place, perhaps: whose copy, their records tell. */
  #late: number[] = [];
  /** All halves below were added. */
  #end: number;

  constructor(start: number) {
    this.#end = start;
  }

  /** Halves below it are settled. */
  get cursor(): number {
    const { open } = this;
    return open.first < open.length ? open.offset(open.first) : this.#end;
  }

  get end(): number {
    return this.#end;
  }

  isDecided(offset: number): boolean {
    return this.#decided.has(offset);
  }

  addOp({ half, own }: Op): void {
    if (!own) this.#addDecision(half);
    else if (half >= this.#end) this.#replaced.add(half);
    else this.close(half);
  }

  #addDecision(half: number): void {
    this.#decided.add(half);
    if (half >= this.#end) return;
    const at = this.open.indexOf(half);
    const state = at < 0 ? HalfState.gone : this.open.state(at);
    if (state !== HalfState.unread && state !== HalfState.known) {
      this.#late.push(half);
      return;
    }
    this.#decided.add(this.open.origin(at));
    this.open.close(at);
  }

  /** The next half of the queue. */
  addHalf(offset: number, physical: number, size: number): void {
    this.#end = offset + 1;
    const [decided, replaced] = [this.#decided.has(offset), this.#replaced.has(offset)];
    if (decided && replaced) this.#late.push(offset);
    if (!decided && !replaced) this.open.append(offset, physical, size);
  }

  /** There is none below this offset that was not added. */
  skipTo(offset: number): void {
    this.#end = Math.max(this.#end, offset);
  }

  /** Up to its end all halves were added. */
  forgetReplaced(): void {
    this.#replaced.forgetBelow(this.#end);
  }

  close(half: number): void {
    const at = this.open.indexOf(half);
    if (at >= 0) this.open.close(at);
    else if (half >= this.#end) this.#replaced.add(half);
  }

  /**
   * What the record of an open half says. Names the halves that need an op: that it is the copy of one which is still there, or that its
   * transaction was decided by other coordinates.
   */
  learn(at: number, facts: HalfFacts, replaced: (half: number) => void, decided: (half: number) => void): void {
    const { open } = this;
    const offset = open.offset(at);
    const older = facts.origin === offset ? undefined : open.copyOf(facts.origin);
    open.learn(at, facts);
    if (facts.origin === offset) return;
    for (const half of [facts.origin, older])
      if (half !== undefined && half !== offset && open.indexOf(half) >= 0) replaced(half);
    if (this.#decided.has(facts.origin)) decided(offset);
  }

  get hasLate(): boolean {
    return this.#late.length > 0;
  }

  takeLate(): number[] {
    return this.#late.splice(0);
  }

  /** The origin of a late one: names the copy that stands in its place, if that is open. */
  decide(origin: number, decided: (half: number) => void): void {
    this.#decided.add(origin);
    const copy = this.open.copyOf(origin);
    if (copy !== undefined) decided(copy);
  }
}
