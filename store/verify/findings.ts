import type { Finding } from './contract.js';

/** Ends a verification at its first damage. */
export class FirstDamage extends Error {
  override readonly name = 'FirstDamage';
}

const KEPT_MAX = 1000;

/** Collects what is found; at most 1000 are kept, the others counted. */
export class Findings {
  readonly list: Finding[] = [];
  more = 0;
  damaged = false;

  constructor(
    private readonly all: boolean,
    private readonly live: boolean,
  ) {}

  note(file: string, position: number | undefined, what: string, todo: string): void {
    this.#keep('note', file, position, what, todo);
  }

  /** Throws FirstDamage when only the first one is wanted. While a broker runs it may be work in progress: a note. */
  damage(file: string, position: number | undefined, what: string, todo: string): void {
    if (this.live) return this.#keep('note', file, position, what, 'a broker runs: stop it and look again');
    this.#keep('damage', file, position, what, todo);
    this.damaged = true;
    if (!this.all) throw new FirstDamage(what);
  }

  #keep(kind: Finding['kind'], file: string, position: number | undefined, what: string, todo: string): void {
    if (this.list.length >= KEPT_MAX) this.more += 1;
    else this.list.push({ kind, file, ...(position === undefined ? {} : { position }), what, todo });
  }
}
