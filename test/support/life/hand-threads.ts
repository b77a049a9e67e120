import type { Clock } from '../../../kernel/base/clock.js';
import type { Logger } from '../../../kernel/base/logger.js';
import { Doorbell } from '../../../kernel/ring/wait.js';
import type { BellAddress, ThreadFigures, ThreadHost, ThreadStatus } from '../../../kernel/threads/contract.js';
import type { RunningService, Service, ServiceContext, ServiceFactory } from '../../../kernel/threads/service.js';
import appender from '../../../workers/commitlog/entry.js';
import flusher from '../../../workers/flush/entry.js';
import dispatcher from '../../../workers/reput/entry.js';
import scheduler from '../../../workers/schedule/entry.js';

const factories: Readonly<Record<string, ServiceFactory<never>>> = {
  commitlog: appender,
  flush: flusher,
  reput: dispatcher,
  schedule: scheduler,
};
const STEPS_MAX = 10_000;

/** Stands between a service and its maker: a test that plants a fault gives another boot or wraps what was made. */
export type Tamper = (name: string, boot: never, make: (boot: never) => Service) => Service;

/**
 * The worker threads of a broker as a test plays them: the real services, none of which does anything before it is stepped. `kick`,
 * which the plugins use where they wait for a service, steps it until it rests.
 */
export class HandThreads implements ThreadHost {
  readonly #services = new Map<string, Played>();
  readonly #context: ServiceContext;

  constructor(
    clock: Clock,
    logger: Logger,
    private readonly tamper: Tamper = (_name, boot, make) => make(boot),
  ) {
    this.#context = { clock, logger };
  }

  async run<Boot>(name: string, _entryUrl: URL, boot: Boot): Promise<RunningService> {
    // Only dispatching with bitmaps is made later, and here are none.
    const make = (given: never): Service => factories[name]!(given, this.#context) as Service;
    const played = new Played(name, this.tamper(name, boot as never, make), this.#context.clock);
    this.#services.set(name, played);
    return played;
  }

  /** One step now, if the service runs. */
  step(name: string): void {
    this.#services.get(name)?.step();
  }

  callsOf<T>(name: string): T {
    return this.#services.get(name)!.calls as T;
  }

  /** Steps whoever asked for its turn by now, and whoever did not get one yet. */
  stepDue(name: string): void {
    const played = this.#services.get(name);
    if (played?.isDue === true) played.step();
  }

  /** Steps until the service wants to wait. */
  rest(name: string): void {
    this.#services.get(name)?.rest();
  }

  /** `kick` of this service does nothing from now on: it is left to the test's steps. */
  holdKicks(name: string): void {
    const played = this.#services.get(name);
    if (played !== undefined) played.held = true;
  }

  bellOf(): BellAddress {
    return { words: new Int32Array(new SharedArrayBuffer(Doorbell.wordsPerBell * 4)), index: 0 };
  }

  inProcess(): boolean {
    return false;
  }

  status(): readonly ThreadStatus[] {
    return [];
  }

  figures(): readonly ThreadFigures[] {
    return [];
  }
}

class Played implements RunningService {
  readonly inProcess = false;
  readonly bell = { ring: () => undefined };
  held = false;
  #dueMonoMs = 0;

  constructor(
    readonly name: string,
    private readonly service: Service,
    private readonly clock: Clock,
  ) {}

  get calls(): unknown {
    return this.service.calls;
  }

  get isDue(): boolean {
    return this.clock.monoMs() >= this.#dueMonoMs;
  }

  step(): number {
    const waitMs = this.service.step();
    this.#dueMonoMs = this.clock.monoMs() + waitMs;
    return waitMs;
  }

  kick(): void {
    if (!this.held) this.rest();
  }

  async stop(): Promise<void> {
    this.rest();
    this.service.close();
  }

  rest(): void {
    for (let step = 0; step < STEPS_MAX; step++) if (this.step() > 0) return;
    throw new Error(`service ${this.name} still wants more after ${STEPS_MAX} steps`);
  }
}
