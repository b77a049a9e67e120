/** A thread whose calls into foreign code are watched. */
export interface WatchedThread {
  readonly name: string;
  /** Of its `CallBoard`. */
  readonly calls: SharedArrayBuffer;
}

export interface WatchdogBoot {
  readonly threads: readonly WatchedThread[];
  /** A call that lasts so long is named (ms), then again after ten times as long, and so on. */
  readonly blockedMs: number;
}
