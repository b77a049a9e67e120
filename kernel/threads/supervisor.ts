import type { Clock } from '../base/clock.js';
import { ExitCode, KernelError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { DeathPolicy } from './contract.js';
import { wrapped } from './errors.js';
import type { ThreadLimits } from './limits.js';

/** A worker thread or an in-process twin, as its supervisor sees it. */
export interface Supervised {
  readonly name: string;
  readonly services: readonly string[];
  /** `fatal` as soon as one of its services is. */
  readonly policy: DeathPolicy;
  /** The heartbeat word; undefined when standing still means nothing now (twins, a service that starts or stops). */
  beat(): number | undefined;
  /** Starts all its services again with the same boots. */
  respawn(): Promise<void>;
}

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ThreadLimits;
  /** A part is gone for good: the process must end with `error.exitCode` within 2 s. Called at most once. */
  readonly onFatal: (error: KernelError) => void;
  /** Ends the process at once: `process.exit` would wait for a thread that sits in a system call. */
  readonly kill: () => void;
}

/** Heartbeats are looked at so often within the hang timeout. */
const CHECKS_PER_TIMEOUT = 10;

interface Watch {
  beat: number | undefined;
  /** Milliseconds that the heartbeat stood still while this thread was there to see it. */
  stillMs: number;
  restarts: number;
  /** Monotonic milliseconds of the restarts within the window. */
  recent: number[];
  timer: NodeJS.Timeout | undefined;
}

/** Restarts what dies, ends the process when it must not go on, and kills it when a thread hangs. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #watches = new Map<Supervised, Watch>();
  readonly #checkMs: number;
  readonly #interval: NodeJS.Timeout;
  #lastCheckMs: number;
  #fatal = false;
  #closed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#checkMs = options.limits.hangTimeoutMs / CHECKS_PER_TIMEOUT;
    this.#lastCheckMs = options.clock.monoMs();
    this.#interval = setInterval(() => this.check(), this.#checkMs).unref();
  }

  watch(thread: Supervised): void {
    this.#watches.set(thread, { beat: undefined, stillMs: 0, restarts: 0, recent: [], timer: undefined });
  }

  unwatch(thread: Supervised): void {
    clearTimeout(this.#watches.get(thread)?.timer);
    this.#watches.delete(thread);
  }

  restartsOf(thread: Supervised): number {
    return this.#watches.get(thread)?.restarts ?? 0;
  }

  /** A thread or twin ended though nobody asked it to. */
  died(thread: Supervised, cause: unknown): void {
    const watch = this.#watches.get(thread);
    if (watch === undefined || this.#closed) return;
    const error = deathOf(thread, cause);
    if (thread.policy === 'fatal') this.#end(error);
    else this.#restartLater(thread, watch, error);
  }

  /**
   * Looks at every heartbeat; runs by itself ten times per hang timeout. A gap between two checks counts as two intervals at
   * most: while the whole process is stopped (SIGSTOP, a suspended machine) no worker can beat.
   */
  check(): void {
    const now = this.#options.clock.monoMs();
    const passedMs = Math.min(now - this.#lastCheckMs, 2 * this.#checkMs);
    this.#lastCheckMs = now;
    for (const [thread, watch] of this.#watches) {
      const beat = thread.beat();
      if (beat === undefined || beat !== watch.beat) {
        watch.beat = beat;
        watch.stillMs = 0;
        continue;
      }
      watch.stillMs += passedMs;
      if (watch.stillMs < this.#options.limits.hangTimeoutMs) continue;
      watch.stillMs = 0;
      this.#options.logger.error(
        { thread: thread.name, services: thread.services, hangTimeoutMs: this.#options.limits.hangTimeoutMs },
        `thread '${thread.name}' hangs: its heartbeat stands still; the process kills itself`,
      );
      this.#options.kill();
      return;
    }
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#interval);
    for (const watch of this.#watches.values()) clearTimeout(watch.timer);
    this.#watches.clear();
  }

  #end(error: KernelError): void {
    if (this.#fatal) return;
    this.#fatal = true;
    this.#options.logger.error({ code: error.code, cause: error.cause }, error.line());
    this.#options.onFatal(error);
  }

  #restartLater(thread: Supervised, watch: Watch, error: KernelError): void {
    const { limits, clock, logger } = this.#options;
    const now = clock.monoMs();
    watch.recent = watch.recent.filter((at) => now - at < limits.restartWindowMs);
    if (watch.recent.length >= limits.restartsMax) {
      this.#end(
        new KernelError(
          'WORKER_DIED',
          `${error.message} (after ${watch.recent.length} restarts in ${limits.restartWindowMs} ms)`,
          {
            cause: error,
            remedy: 'the log lines before this one say why it ended each time',
            exitCode: ExitCode.workerDied,
          },
        ),
      );
      return;
    }
    const delayMs = Math.min(limits.restartDelayMs * 2 ** watch.recent.length, limits.restartDelayMaxMs);
    watch.recent.push(now);
    logger.warn(
      { thread: thread.name, services: thread.services, delayMs, error: error.message },
      'a thread died and is restarted',
    );
    watch.timer = setTimeout(() => void this.#restart(thread, watch), delayMs);
  }

  async #restart(thread: Supervised, watch: Watch): Promise<void> {
    watch.restarts++;
    try {
      await thread.respawn();
      this.#options.logger.info(
        { thread: thread.name, services: thread.services, restarts: watch.restarts },
        'a thread runs again',
      );
    } catch (error) {
      this.died(thread, error);
    }
  }
}

/** What callers in flight are told, and the process's last line. */
export function deathOf(thread: Pick<Supervised, 'name' | 'services'>, cause: unknown): KernelError {
  if (cause instanceof KernelError && cause.code === 'WORKER_DIED') return cause;
  const services = thread.services.filter((name) => name !== thread.name);
  const also = services.length === 0 ? '' : ` with services ${services.join(', ')}`;
  const inner = wrapped('WORKER_DIED', `thread '${thread.name}'${also} died`, cause);
  return new KernelError('WORKER_DIED', inner.message, {
    cause,
    remedy: inner.remedy ?? `see the cause: ${messageOf(cause)}`,
    exitCode: ExitCode.workerDied,
  });
}
