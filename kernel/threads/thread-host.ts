import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.js';
import { KernelError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { WakeLoop } from '../ring/wake-loop.js';
import { BellHub } from './bells.js';
import type { BellAddress, RunOptions, ThreadFigures, ThreadHost, ThreadStatus, Topology } from './contract.js';
import { createService } from './host.js';
import { linuxThreadId } from './linux-thread.js';
import { defaultThreadLimits, TURN_CEILING_MS, type ThreadLimits } from './limits.js';
import type { RunningService } from './service.js';
import { ServiceThread, type ServiceSpec } from './spawn.js';
import { Supervisor } from './supervisor.js';
import { checkTopology, isServiceName, MAIN, threadOf } from './topology.js';
import { Twin } from './twin.js';
import { withLimit } from './with-limit.js';

export interface ThreadHostOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly topology?: Topology;
  readonly limits?: Partial<ThreadLimits>;
  /** A `fatal` service is gone: the process must end within 2 s with `error.exitCode`. */
  readonly onFatal: (error: KernelError) => void;
  /** For tests; by default SIGKILL to the own process. */
  readonly kill?: () => void;
}

/** Runs each service where the topology says; owns threads, twins, bells and the supervisor. */
export class TopologyThreadHost implements ThreadHost {
  readonly #options: ThreadHostOptions;
  readonly #topology: Topology;
  readonly #limits: ThreadLimits;
  readonly #supervisor: Supervisor;
  readonly #bells = new BellHub();
  readonly #mainBell = new WakeLoop();
  readonly #threads = new Map<string, ServiceThread>();
  readonly #twins = new Set<Twin>();
  /** Running or starting services by name. */
  readonly #names = new Map<string, RunningService | undefined>();
  #mainListens = false;
  #stopped: Promise<void> | undefined;

  constructor(options: ThreadHostOptions) {
    this.#options = options;
    this.#topology = options.topology ?? {};
    checkTopology(this.#topology);
    this.#limits = { ...defaultThreadLimits, ...options.limits };
    this.#supervisor = new Supervisor({
      clock: options.clock,
      logger: options.logger,
      limits: this.#limits,
      onFatal: options.onFatal,
      kill: options.kill ?? (() => process.kill(process.pid, 'SIGKILL')),
    });
  }

  async run<Boot>(service: string, entryUrl: URL, boot: Boot, options: RunOptions = {}): Promise<RunningService> {
    this.#reserve(service, entryUrl);
    const spec: ServiceSpec = {
      name: service,
      url: entryUrl,
      boot,
      onDeath: options.onDeath ?? 'fatal',
      onRestart: options.onRestart,
    };
    try {
      const place = options.apart === true ? service : threadOf(this.#topology, service);
      const running = await (place === MAIN ? this.#runTwin(spec) : this.#runOnThread(spec, place));
      this.#names.set(service, running);
      return running;
    } catch (error) {
      this.#names.delete(service);
      throw error;
    }
  }

  /** Brings up the thread of a service that will run soon, so that its start is not waited for then. */
  warm(service: string): void {
    checkName(service);
    if (!this.inProcess(service)) this.#threadNamed(threadOf(this.#topology, service)).warm();
  }

  bellOf(service: string): BellAddress {
    checkName(service);
    return this.inProcess(service) ? this.#mainBell.address : this.#bells.of(threadOf(this.#topology, service));
  }

  inProcess(service: string): boolean {
    return threadOf(this.#topology, service) === MAIN;
  }

  status(): readonly ThreadStatus[] {
    const of = (part: ServiceThread | Twin, inProcess: boolean): ThreadStatus => ({
      name: part.name,
      services: part.services,
      inProcess,
      restarts: this.#supervisor.restartsOf(part),
      beatAgeMs: this.#ageOf(part.beat()),
    });
    const threads = [...this.#threads.values()].map((thread) => of(thread, false));
    return [...threads, ...[...this.#twins].map((twin) => of(twin, true))];
  }

  figures(): readonly ThreadFigures[] {
    const main = { name: MAIN, linuxId: linuxThreadId() || undefined, wakeUps: this.#mainBell.wakeUps };
    return [main, ...[...this.#threads.values()].map(({ figures }) => figures)];
  }

  /** Threads that have not turned for two ceilings, for whatever reason: most likely they sit in a system call. */
  stuck(): string[] {
    return [...this.#threads.values()]
      .filter((thread) => (this.#ageOf(thread.lastBeat()) ?? 0) > 2 * TURN_CEILING_MS)
      .map(({ name }) => name);
  }

  /** Ends a worker where it stands, as a crash would: for tests of what the supervisor does then. */
  terminate(thread: string): void {
    this.#threads.get(thread)?.terminate();
  }

  /** Stops what still runs, the youngest first, each under the limit. Errors are logged: nobody is left to handle them. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    for (const [name, running] of [...this.#names].reverse()) {
      if (running === undefined) continue;
      try {
        await withLimit(running.stop(), this.#limits.stopTimeoutMs, (ms) => {
          return new KernelError('SERVICE_HUNG', `service '${name}' did not stop within ${ms} ms`);
        });
      } catch (error) {
        this.#options.logger.error({ service: name, error: messageOf(error) }, 'a service did not stop well');
      }
    }
    this.#supervisor.close();
    for (const thread of this.#threads.values()) thread.terminate();
    if (this.#mainListens) await this.#mainBell.stop();
  }

  /** Milliseconds since a heartbeat: low 32 bits of the monotonic clock that all threads share. */
  #ageOf(beat: number | undefined): number | undefined {
    if (beat === undefined) return undefined;
    return Math.max(0, (Math.trunc(this.#options.clock.monoMs()) - beat) | 0);
  }

  #reserve(service: string, entryUrl: URL): void {
    checkName(service);
    if (this.#stopped !== undefined)
      throw new KernelError('SERVICE_STOPPED', `service '${service}' cannot start: the kernel is stopping`);
    if (this.#names.has(service))
      throw new KernelError(
        'SERVICE_DUPLICATE',
        `service '${service}' runs already (asked again with ${entryUrl.href})`,
      );
    if (entryUrl.protocol === 'file:' && fileURLToPath(entryUrl).endsWith('.ts'))
      throw new KernelError('SERVICE_FAILED', `service '${service}': ${entryUrl.href} is not a compiled file`);
    this.#names.set(service, undefined);
  }

  async #runTwin(spec: ServiceSpec): Promise<RunningService> {
    const context = { clock: this.#options.clock, logger: this.#options.logger.child({ service: spec.name }) };
    const twin = await Twin.start({
      name: spec.name,
      clock: this.#options.clock,
      onDeath: spec.onDeath,
      onRestart: spec.onRestart,
      create: () => createService(spec.name, spec.url.href, spec.boot, context),
      died: (died, cause) => this.#supervisor.died(died, cause),
      stopped: (stopped) => {
        this.#names.delete(spec.name);
        this.#twins.delete(stopped);
        this.#supervisor.unwatch(stopped);
      },
    });
    this.#twins.add(twin);
    this.#supervisor.watch(twin);
    this.#listen();
    return twin;
  }

  /** Other threads wake every twin through one bell. A twin with more to do sees to its next turn itself. */
  #listen(): void {
    if (this.#mainListens) return;
    this.#mainListens = true;
    this.#mainBell.add(
      () => undefined,
      () => {
        for (const twin of this.#twins) twin.kick();
        return false;
      },
    );
    this.#mainBell.start();
  }

  async #runOnThread(spec: ServiceSpec, place: string): Promise<RunningService> {
    const thread = this.#threadNamed(place);
    try {
      return await thread.add(spec);
    } catch (error) {
      // A start that takes too long may never come out of its call: that thread is not waited for.
      const late = error instanceof KernelError && error.code === 'SERVICE_NOT_READY';
      if (this.#forgetWhenEmpty(thread)) await (late ? thread.terminate() : thread.end());
      throw error;
    }
  }

  /** Made for the first service on it. */
  #threadNamed(name: string): ServiceThread {
    const known = this.#threads.get(name);
    if (known !== undefined) return known;
    const thread = new ServiceThread({
      name,
      bell: this.#bells.of(name),
      limits: this.#limits,
      onDeath: (died, cause) => this.#supervisor.died(died, cause),
      onRemoved: async (removed, gone) => {
        this.#names.delete(gone);
        if (this.#forgetWhenEmpty(removed)) await removed.end();
      },
    });
    this.#threads.set(name, thread);
    this.#supervisor.watch(thread);
    return thread;
  }

  #forgetWhenEmpty(thread: ServiceThread): boolean {
    if (!thread.empty || this.#threads.get(thread.name) !== thread) return false;
    this.#threads.delete(thread.name);
    this.#supervisor.unwatch(thread);
    return true;
  }
}

function checkName(service: string): void {
  if (!isServiceName(service))
    throw new KernelError('TOPOLOGY_INVALID', `'${service}' cannot be the name of a service`, {
      remedy: 'services are lower-case words, and none is called main or own',
    });
}
