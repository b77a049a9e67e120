import type { Delivery } from './delivery.js';
import type { Form } from './source.js';
import { TimerForm } from './timer-form.js';

/** A source whose messages can be stored again before they are due. */
export interface Movable {
  /** From now on those whose records lie below the offset are handed over, to wait at the log's end; none below 0. */
  moveBelow(physicalOffset: number, formOf: (dueMs: number) => Form): void;
  /** Where the first record lies that is needed and lies below the offset; undefined: there is none. */
  firstBelow(physicalOffset: number): number | undefined;
}

interface Move {
  readonly offset: number;
  /** Of the delivery, at the beginning. */
  readonly failures: number;
  readonly resolve: (reached: number) => void;
}

const formOf = (dueMs: number): Form => new TimerForm(dueMs);

/** Brings what waits out of the files that are to be deleted. */
export class Mover {
  #move: Move | undefined;

  constructor(
    private readonly sources: readonly Movable[],
    private readonly delivery: Delivery,
  ) {}

  get isActive(): boolean {
    return this.#move !== undefined;
  }

  /** Resolves to the offset, or to the smaller one below which nothing is needed, when not all could be stored. One at a time. */
  start(offset: number): Promise<number> {
    this.stop();
    for (const source of this.sources) source.moveBelow(offset, formOf);
    return new Promise((resolve) => (this.#move = { offset, failures: this.delivery.failures, resolve }));
  }

  /** After each step. */
  look(): void {
    if (this.#move === undefined) return;
    const { offset, failures } = this.#move;
    const hasFailed = this.delivery.failures > failures;
    if (hasFailed || this.sources.every((source) => source.firstBelow(offset) === undefined)) this.stop();
  }

  /** What is not moved by now stays where it is. */
  stop(): void {
    const move = this.#move;
    if (move === undefined) return;
    this.#move = undefined;
    const firsts = this.sources.map((source) => source.firstBelow(move.offset) ?? move.offset);
    for (const source of this.sources) source.moveBelow(0, formOf);
    move.resolve(Math.min(...firsts));
  }
}
