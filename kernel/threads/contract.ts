import type { InjectionToken } from 'tsyringe';
import type { RunningService } from './service.js';

/**
 * Which thread runs a service: `own` a thread of its own, `main` the network thread (in-process twin), any other word the
 * thread that all services with this word share. The key `*` stands for services that are not named; without it they run `own`.
 */
export type Topology = Readonly<Record<string, string>>;

/** What follows when a service throws or its thread ends: start it again with the same boot, or end the process. */
export type DeathPolicy = 'restart' | 'fatal';

export interface RunOptions {
  /** Default `fatal`: nothing goes on beside a part that is missing. One `fatal` service makes its whole thread so. */
  readonly onDeath?: DeathPolicy;
  /** Called on the kernel's side after a restart, when the service runs again. Pending calls were rejected before. */
  readonly onRestart?: () => void;
  /** On a thread of its own whatever the topology says: for who watches the others. */
  readonly apart?: boolean;
}

/** Where a bell hangs: may be cloned into another thread's boot, which rings with `Doorbell.at(address)`. */
export interface BellAddress {
  /** Over a SharedArrayBuffer. */
  readonly words: Int32Array;
  readonly index: number;
}

/** One thread, or one in-process twin, for metrics and `doctor`. */
export interface ThreadStatus {
  readonly name: string;
  readonly services: readonly string[];
  readonly inProcess: boolean;
  readonly restarts: number;
  /** Milliseconds since the thread's last turn; undefined for twins and while a service is being added or removed. */
  readonly beatAgeMs: number | undefined;
}

/** What a thread did so far: for who compares topologies. */
export interface ThreadFigures {
  readonly name: string;
  /** Its id in /proc/PID/task; undefined where there is none, and while the thread is not up. */
  readonly linuxId: number | undefined;
  /** How often a bell ended its sleep, modulo 2^32. */
  readonly wakeUps: number;
}

/** Runs services where the topology says. The kernel registers it before any plugin and stops what plugins left running. */
export interface ThreadHost {
  /**
   * Starts the default export (`ServiceFactory<Boot>`) of a compiled entry file. `boot` is cloned, never transferred, since a
   * restart needs it again. Rejects with a KernelError naming the service when its entry throws, dies or is not ready in time.
   */
  run<Boot>(service: string, entryUrl: URL, boot: Boot, options?: RunOptions): Promise<RunningService>;
  /** The bell of a service, before or after it runs: for boots of services that wake each other. Survives restarts. */
  bellOf(service: string): BellAddress;
  /** True when the topology puts the service on the caller's thread. */
  inProcess(service: string): boolean;
  status(): readonly ThreadStatus[];
  /** The caller's thread as `main`, then the others. */
  figures(): readonly ThreadFigures[];
}
export const ThreadHost: InjectionToken<ThreadHost> = Symbol('ThreadHost');

export interface TaskOptions {
  /** Moved to the task instead of cloned. */
  readonly transfer?: readonly (ArrayBuffer | import('node:worker_threads').MessagePort)[];
  /** Ends the wait; a task that runs already is ended with its thread. */
  readonly signal?: AbortSignal;
}

/** Threads for stateless CPU or blocking work. Made on the first task, gone when idle. */
export interface Pool {
  /**
   * Runs the default export of a compiled file with `args` and resolves to what it returns. Rejects with KernelError POOL_FULL
   * when too many tasks wait, POOL_STOPPED after the stop, and with the task's own error.
   */
  run<T>(taskUrl: URL, args: unknown, options?: TaskOptions): Promise<T>;
}
export const Pool: InjectionToken<Pool> = Symbol('Pool');

/** `T`'s methods as another thread sees them: arguments and results are cloned, every answer is a promise. */
export type Remote<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** The control calls of a running service, typed by the worker's contract. Rejects with WORKER_DIED when it ends meanwhile. */
export function callsOf<T>(running: RunningService): Remote<T> {
  return running.calls as Remote<T>;
}
