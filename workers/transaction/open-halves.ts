/** What becomes of an open half. */
export const HalfState = {
  /** Only its place is known. */
  unread: 0,
  known: 1,
  /** Its copy is on its way to the log. */
  moving: 2,
  /** It has a copy in its place, or was given up; the op record that says so is not stored yet. */
  closing: 3,
  gone: 4,
} as const;
export type HalfState = (typeof HalfState)[keyof typeof HalfState];

/** What the record of a half says. */
export interface HalfFacts {
  /** Queue offset of the half that the producer sent; its own unless this is a copy. */
  readonly origin: number;
  readonly group: string;
  /** Questions that were asked about it. */
  readonly checks: number;
  readonly bornMs: number;
  /** Before, nobody is asked. */
  readonly dueMs: number;
}

const FIRST_ROOM = 1024;

class Columns {
  readonly offset: Float64Array;
  readonly physical: Float64Array;
  readonly size: Int32Array;
  readonly state: Uint8Array;
  readonly origin: Float64Array;
  readonly bornMs: Float64Array;
  readonly dueMs: Float64Array;
  readonly checks: Int32Array;
  readonly group: Int32Array;

  constructor(readonly room: number) {
    [this.offset, this.physical, this.origin, this.bornMs, this.dueMs] = Array.from(
      { length: 5 },
      () => new Float64Array(room),
    );
    [this.size, this.checks, this.group] = Array.from({ length: 3 }, () => new Int32Array(room));
    this.state = new Uint8Array(room);
  }

  copy(from: number, source: Columns, to: number): void {
    this.offset[to] = source.offset[from];
    this.physical[to] = source.physical[from];
    this.size[to] = source.size[from];
    this.state[to] = source.state[from];
    this.origin[to] = source.origin[from];
    this.bornMs[to] = source.bornMs[from];
    this.dueMs[to] = source.dueMs[from];
    this.checks[to] = source.checks[from];
    this.group[to] = source.group[from];
  }
}

/**
 * The halves that nobody decided, by queue offset, in columns of numbers: some 60 bytes each, whatever lies between them. Indices stay
 * valid until the next `append`.
 */
export class OpenHalves {
  #columns = new Columns(FIRST_ROOM);
  #length = 0;
  #first = 0;
  #open = 0;
  #groups: string[] = [];
  #groupIds = new Map<string, number>();
  /** Of each half that has copies: the newest one of which is known that it is its copy. */
  readonly #copies = new Map<number, number>();

  /** How many are open. */
  get count(): number {
    return this.#open;
  }

  /** Indices are below this. */
  get length(): number {
    return this.#length;
  }

  /** Index of the oldest open one; `length` when there is none. */
  get first(): number {
    while (this.#first < this.#length && this.#columns.state[this.#first] === HalfState.gone) this.#first++;
    return this.#first;
  }

  /** Behind all others. */
  append(offset: number, physical: number, size: number): void {
    if (this.#length === this.#columns.room) this.#makeRoom();
    const at = this.#length++;
    const columns = this.#columns;
    columns.offset[at] = offset;
    columns.physical[at] = physical;
    columns.size[at] = size;
    columns.state[at] = HalfState.unread;
    columns.origin[at] = offset;
    this.#open++;
  }

  /** Index of the open half, or -1. */
  indexOf(offset: number): number {
    const { offset: offsets, state } = this.#columns;
    let [low, high] = [this.first, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (offsets[middle] < offset) low = middle + 1;
      else high = middle;
    }
    return low < this.#length && offsets[low] === offset && state[low] !== HalfState.gone ? low : -1;
  }

  state(at: number): HalfState {
    return this.#columns.state[at] as HalfState;
  }

  setState(at: number, state: Exclude<HalfState, typeof HalfState.gone>): void {
    this.#columns.state[at] = state;
  }

  learn(at: number, facts: HalfFacts): void {
    const columns = this.#columns;
    columns.state[at] = HalfState.known;
    columns.origin[at] = facts.origin;
    columns.bornMs[at] = facts.bornMs;
    columns.dueMs[at] = facts.dueMs;
    columns.checks[at] = facts.checks;
    columns.group[at] = this.#groupId(facts.group);
    if (facts.origin !== columns.offset[at]) this.#copies.set(facts.origin, columns.offset[at]);
  }

  countCheck(at: number): void {
    this.#columns.checks[at]++;
  }

  close(at: number): void {
    const { state, origin, offset } = this.#columns;
    if (state[at] === HalfState.gone) return;
    state[at] = HalfState.gone;
    this.#open--;
    if (this.#copies.get(origin[at]) === offset[at]) this.#copies.delete(origin[at]);
  }

  offset(at: number): number {
    return this.#columns.offset[at];
  }

  physical(at: number): number {
    return this.#columns.physical[at];
  }

  size(at: number): number {
    return this.#columns.size[at];
  }

  origin(at: number): number {
    return this.#columns.origin[at];
  }

  bornMs(at: number): number {
    return this.#columns.bornMs[at];
  }

  dueMs(at: number): number {
    return this.#columns.dueMs[at];
  }

  checks(at: number): number {
    return this.#columns.checks[at];
  }

  group(at: number): string {
    return this.#groups[this.#columns.group[at]];
  }

  /** The newest open copy of the half, as far as its record was read. */
  copyOf(origin: number): number | undefined {
    return this.#copies.get(origin);
  }

  /** Those that are gone leave; more room when most are open, less when few are. */
  #makeRoom(): void {
    const old = this.#columns;
    const oldGroups = this.#groups;
    const room = this.#open * 2 > old.room ? old.room * 2 : this.#open * 8 > old.room ? old.room : old.room / 2;
    this.#columns = new Columns(Math.max(FIRST_ROOM, room));
    this.#groups = [];
    this.#groupIds = new Map();
    let to = 0;
    for (let from = this.first; from < this.#length; from++) {
      if (old.state[from] === HalfState.gone) continue;
      this.#columns.copy(from, old, to);
      if (old.state[from] !== HalfState.unread) this.#columns.group[to] = this.#groupId(oldGroups[old.group[from]]);
      to++;
    }
    this.#length = to;
    this.#first = 0;
  }

  #groupId(group: string): number {
    let id = this.#groupIds.get(group);
    if (id === undefined) {
      id = this.#groups.push(group) - 1;
      this.#groupIds.set(group, id);
    }
    return id;
  }
}
