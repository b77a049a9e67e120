import type { BellAddress } from '../../kernel/threads/contract.js';
import type { LogLocation } from '../commitlog/contract.js';

export interface FlushBoot {
  readonly log: LogLocation;
  /** A failed sync is noted in it for the next start. */
  readonly abortPath: string;
  readonly watermarks: SharedArrayBuffer;
  /** SYNC_FLUSH: sync as soon as something is appended. */
  readonly sync: boolean;
  /** ASYNC_FLUSH: how often to look, ms (flushIntervalCommitLog). */
  readonly intervalMs: number;
  /** ASYNC_FLUSH: sync when at least so many 4-KiB pages are dirty (flushCommitLogLeastPages); 0 always. */
  readonly leastPages: number;
  /** ASYNC_FLUSH: sync whatever is dirty after so long, ms (flushCommitLogThoroughInterval). */
  readonly thoroughIntervalMs: number;
  /** Bells to ring when `flushed` moved or a sync failed. */
  readonly followers: readonly BellAddress[];
}

export interface FlushCalls {
  /** Syncs up to `appended` now; returns the new `flushed`. Rejects when the sync failed. */
  flushNow(): Promise<number>;
}
