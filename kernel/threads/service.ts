import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';

/**
 * What one service does, on whichever thread: `step` does the work that is there and returns; the thread's loop calls it again
 * when its bell rings or the returned time has passed.
 */
export interface Service {
  /** Does a bounded amount of work. Returns milliseconds until it wants to be called again without a bell: 0 when more work waits. */
  step(): number;
  /**
   * Asked when `step` wants to wait: for so many ms bells are not heard, so that what rings often is served in larger pieces.
   * Missing or 0: the next bell is heard at once. Infinity: as long as the others on its thread wish, not at all without them.
   */
  readonly restMs?: number;
  /** Control calls, exposed through comlink; each method may return a promise that needs no I/O of the event loop. */
  readonly calls?: object;
  /** After the last step: close descriptors, leave nothing behind. */
  close(): void;
}

/** What the thread gives every service that runs on it. */
export interface ServiceContext {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Default export of every `workers/<name>/entry.ts`; `Boot` is structured-clonable and typed in the worker's contract. */
export type ServiceFactory<Boot> = (boot: Boot, context: ServiceContext) => Service | Promise<Service>;

/** Wakes the thread of a service: shared word for threads, a scheduled step for in-process twins. Cheap when it is awake. */
export interface Bell {
  ring(): void;
}

/** A running service seen from the kernel's side. */
export interface RunningService {
  readonly name: string;
  readonly bell: Bell;
  /** comlink proxy of `Service.calls`, typed by the worker's contract. */
  readonly calls: unknown;
  /** In-process twins run their step at once, on the caller's stack; threads get their bell rung. */
  kick(): void;
  /** True when the service shares the caller's thread. */
  readonly inProcess: boolean;
  /** Resolves when the service has made its last step and closed. */
  stop(): Promise<void>;
}
