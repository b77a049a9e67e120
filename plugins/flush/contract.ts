import type { InjectionToken } from 'tsyringe';

/** Brings the log to the disk out of turn. */
export interface LogFlush {
  /** Syncs all that is appended; resolves to the new `flushed`, a physical offset. Rejects when the sync failed. */
  flushNow(): Promise<number>;
}
export const LogFlush: InjectionToken<LogFlush> = Symbol('LogFlush');
