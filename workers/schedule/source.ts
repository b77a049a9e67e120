import type { RecordLayout } from '../../protocol/message/record.js';
import type { Records } from './records.js';

/** What changes when a stored record is stored again. */
export interface Outgoing {
  topic: string;
  queueId: number;
  /** The new record's properties: `[propertiesStart, propertiesEnd)` of `properties`, which must not change before `fill` returns next. */
  properties: Buffer;
  propertiesStart: number;
  propertiesEnd: number;
}

/** Says where a stored record goes when it is stored again. Everything else of it stays, but its prepared transaction offset becomes 0. */
export interface Form {
  /** Fills in all of `out`; returns why this record can never be stored so, or undefined. `record` is valid until it returns. */
  fill(record: Buffer, parts: RecordLayout, out: Outgoing): string | undefined;
}

/**
 * Takes one stored record to be stored again in `form`; each token is its source's own, an integer. Its end is told later by one of the
 * source's `delivered`, `undeliverable` (perhaps before this returns) and `again`. False: not now, and nothing more in this step; ask again
 * in the next one.
 */
export type Hand = (token: number, physicalOffset: number, size: number, form: Form) => boolean;

/** Something that knows which stored messages are due: the delay levels, the timers. */
export interface Source {
  readonly records: Records;
  /**
   * Hands over what is due, first the first, while `hand` takes it. Returns ms until it wants to be asked again; Infinity when that is
   * only after something arrived or came back (the bell rings then).
   */
  due(nowMs: number, hand: Hand): number;
  /** It is stored; at the begin of a life also of what an earlier one handed over. */
  delivered(token: number): void;
  /** It never can be, and was named in the log: it counts as done. */
  undeliverable(token: number): void;
  /** It could not be stored now (the disk is full): nothing of it is in the log. Hand it over again, not at once. */
  again(token: number): void;
}

/** Between two attempts at what could not be stored. */
export const RETRY_MS = 200;
