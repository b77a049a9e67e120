const PROPERTY_END = 2;

/** Finds one property in `name 1 value 2 name 1 value` without making strings; the last one of the name counts, as in 4.9. */
export class PropertyFinder {
  /** Of the value that was found. */
  start = 0;
  end = 0;
  readonly #name: Buffer;

  constructor(name: string) {
    this.#name = Buffer.from(`${name}\u0001`);
  }

  /** False when there is none in `[from, to)`, or it is empty. */
  find(bytes: Buffer, from: number, to: number): boolean {
    const length = this.#name.length;
    let found = false;
    for (let at = from; at + length < to;) {
      const hit = this.#isNamed(bytes, at);
      let end = hit ? at + length : at;
      while (end < to && bytes[end] !== PROPERTY_END) end++;
      if (hit && end > at + length) {
        this.start = at + length;
        this.end = end;
        found = true;
      }
      at = end + 1;
    }
    return found;
  }

  #isNamed(bytes: Buffer, at: number): boolean {
    const name = this.#name;
    for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
    return true;
  }
}
