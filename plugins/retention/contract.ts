import type { InjectionToken } from 'tsyringe';

/**
 * Moves what must not be lost from below `offset`, a physical offset, to the log's end, and resolves, when that is synced, to the offset
 * below which it needs nothing any more: `offset`, or less when not all could be moved.
 */
export type RecordKeeper = (offset: number) => Promise<number>;

/** Old files are deleted only when nobody needs their records any more. */
export interface RecordKeepers {
  /** `what` names in the log what holds up a deletion: `delayed messages`. */
  add(what: string, keeper: RecordKeeper): void;
}
export const RecordKeepers: InjectionToken<RecordKeepers> = Symbol('RecordKeepers');
