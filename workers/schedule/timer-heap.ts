const CAPACITY_MIN = 1024;

/** One message that waits for its time. */
export interface Timer {
  /** Wall clock, ms. */
  due: number;
  queueOffset: number;
  physicalOffset: number;
  /** Bytes of its record. */
  size: number;
}

/**
 * Timers in order of their due times, those of one moment in the order in which they came: a binary heap over typed arrays, 28 bytes for
 * each timer, so that millions of them cost the collector nothing.
 */
export class TimerHeap {
  #due = new Float64Array(CAPACITY_MIN);
  #queueOffset = new Float64Array(CAPACITY_MIN);
  #physicalOffset = new Float64Array(CAPACITY_MIN);
  #size = new Int32Array(CAPACITY_MIN);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** When the first one is due; Infinity when there is none. */
  get firstDue(): number {
    return this.#count === 0 ? Number.POSITIVE_INFINITY : this.#due[0];
  }

  push({ due, queueOffset, physicalOffset, size }: Timer): void {
    if (this.#count === this.#due.length) this.#resize(this.#count * 2);
    let at = this.#count++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(due, queueOffset, parent)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, due, queueOffset, physicalOffset, size);
  }

  /** Takes the first one off; there must be one. */
  pop(into: Timer): void {
    this.#get(0, into);
    const last = --this.#count;
    if (last > 0) this.#sink(0, last);
    if (last >= CAPACITY_MIN && last * 4 < this.#due.length) this.#resize(this.#due.length / 2);
  }

  /** In no order; `timer` is overwritten by the next one. */
  forEach(visit: (timer: Timer) => void): void {
    const timer: Timer = { due: 0, queueOffset: 0, physicalOffset: 0, size: 0 };
    for (let at = 0; at < this.#count; at++) {
      this.#get(at, timer);
      visit(timer);
    }
  }

  /** Drops those that `keep` says no to. */
  retain(keep: (queueOffset: number) => boolean): void {
    let kept = 0;
    for (let at = 0; at < this.#count; at++) if (keep(this.#queueOffset[at])) this.#move(at, kept++);
    this.#count = kept;
    for (let at = (kept >> 1) - 1; at >= 0; at--) this.#sink(at, at);
    const capacity = Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(kept + 1)));
    if (capacity < this.#due.length) this.#resize(capacity);
  }

  /** Puts what stands at `from` to where it belongs at or below `at`. */
  #sink(at: number, from: number): void {
    const due = this.#due[from];
    const queueOffset = this.#queueOffset[from];
    const physicalOffset = this.#physicalOffset[from];
    const size = this.#size[from];
    for (let child = at * 2 + 1; child < this.#count; child = at * 2 + 1) {
      const right = child + 1;
      if (right < this.#count && this.#isBefore(this.#due[right], this.#queueOffset[right], child)) child = right;
      if (!this.#comesAfter(due, queueOffset, child)) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, due, queueOffset, physicalOffset, size);
  }

  #isBefore(due: number, queueOffset: number, at: number): boolean {
    const other = this.#due[at];
    return due < other || (due === other && queueOffset < this.#queueOffset[at]);
  }

  #comesAfter(due: number, queueOffset: number, at: number): boolean {
    const other = this.#due[at];
    return due > other || (due === other && queueOffset > this.#queueOffset[at]);
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#due[from], this.#queueOffset[from], this.#physicalOffset[from], this.#size[from]);
  }

  #set(at: number, due: number, queueOffset: number, physicalOffset: number, size: number): void {
    this.#due[at] = due;
    this.#queueOffset[at] = queueOffset;
    this.#physicalOffset[at] = physicalOffset;
    this.#size[at] = size;
  }

  #get(at: number, into: Timer): void {
    into.due = this.#due[at];
    into.queueOffset = this.#queueOffset[at];
    into.physicalOffset = this.#physicalOffset[at];
    into.size = this.#size[at];
  }

  #resize(capacity: number): void {
    this.#due = resized(this.#due, capacity);
    this.#queueOffset = resized(this.#queueOffset, capacity);
    this.#physicalOffset = resized(this.#physicalOffset, capacity);
    const sizes = new Int32Array(capacity);
    sizes.set(this.#size.subarray(0, capacity));
    this.#size = sizes;
  }
}

function resized(values: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(capacity);
  wider.set(values.subarray(0, capacity));
  return wider;
}
