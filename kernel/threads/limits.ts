import type { LogLevel } from '../base/logger.js';

/** Bounds of every thread that the kernel runs. */
export interface ThreadLimits {
  /** A thread whose heartbeat stands still for so long while the kernel's own thread runs is taken as hung (milliseconds). */
  readonly hangTimeoutMs: number;
  /** From the start of a service to its READY (milliseconds); a service may recover its files in that time. */
  readonly readyTimeoutMs: number;
  /** For threads that the plugins left running when the kernel stops (milliseconds). */
  readonly stopTimeoutMs: number;
  /** First wait before a restart; doubles with each further one up to `restartDelayMaxMs`. */
  readonly restartDelayMs: number;
  readonly restartDelayMaxMs: number;
  /** More restarts than this within `restartWindowMs` end the process: what dies again and again is broken. */
  readonly restartsMax: number;
  readonly restartWindowMs: number;
  /** Young generation of a worker's heap, MiB. V8's default would let five idle workers grow by far more than they need. */
  readonly youngGenerationMb: number;
  readonly logLevel: LogLevel;
}

export const defaultThreadLimits: ThreadLimits = {
  hangTimeoutMs: 10_000,
  readyTimeoutMs: 60_000,
  stopTimeoutMs: 10_000,
  restartDelayMs: 100,
  restartDelayMaxMs: 5_000,
  restartsMax: 8,
  restartWindowMs: 60_000,
  youngGenerationMb: 8,
  logLevel: 'info',
};

/** Bounds of the pool for stateless tasks. */
export interface PoolLimits {
  readonly threadsMax: number;
  /** An idle thread of the pool ends after so long (milliseconds). */
  readonly idleTimeoutMs: number;
  /** Tasks that may wait for a thread. */
  readonly queueMax: number;
  /** How long a stop waits for the tasks in hand (milliseconds). */
  readonly stopTimeoutMs: number;
}

export const defaultPoolLimits: PoolLimits = {
  threadsMax: 2,
  idleTimeoutMs: 10_000,
  queueMax: 256,
  stopTimeoutMs: 10_000,
};

/** No thread and no twin goes without a turn for longer, whatever its services ask for. */
export const TURN_CEILING_MS = 500;
