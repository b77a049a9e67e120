import { MessageChannel, Worker } from 'node:worker_threads';
import { transfer, type Remote as ComlinkRemote } from 'comlink';
import { KernelError } from '../base/errors.js';
import { Doorbell } from '../ring/wait.js';
import { CallGate, connect, methodsOf, type CallTarget } from './calls.js';
import type { BellAddress, DeathPolicy, ThreadFigures } from './contract.js';
import { fromWire, wrapped } from './errors.js';
import type { LastWord, ThreadBoot } from './host-entry.js';
import type { ThreadControl } from './host.js';
import type { ThreadLimits } from './limits.js';
import type { RunningService } from './service.js';
import { deathOf, type Supervised } from './supervisor.js';
import { withLimit } from './with-limit.js';

const HOST_ENTRY = new URL('./host-entry.js', import.meta.url);

/** What a service is started with, now and at every restart. */
export interface ServiceSpec {
  readonly name: string;
  readonly url: URL;
  readonly boot: unknown;
  readonly onDeath: DeathPolicy;
  readonly onRestart: (() => void) | undefined;
}

export interface ThreadOptions {
  readonly name: string;
  readonly bell: BellAddress;
  readonly limits: ThreadLimits;
  /** The thread ended by itself while services ran on it. */
  readonly onDeath: (thread: ServiceThread, cause: unknown) => void;
  /** A service has left; the thread may be empty now. */
  readonly onRemoved: (thread: ServiceThread, service: string) => Promise<void>;
}

/** One life of a worker. */
interface Life {
  readonly worker: Worker;
  readonly control: ComlinkRemote<ThreadControl>;
  readonly gate: CallGate;
  readonly exited: Promise<void>;
  /** Why it ended, as far as it could say. */
  cause: unknown;
  ended: boolean;
}

/** A worker thread and the services on it, seen from the kernel. Outlives its worker: a restart gives it a new one. */
export class ServiceThread implements Supervised {
  readonly name: string;
  readonly #options: ThreadOptions;
  readonly #bell: Doorbell;
  readonly #beat = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #linuxId = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #services = new Map<string, ThreadService>();
  #life: Life | undefined;
  /** Services being added or removed: until then the heartbeat may stand still, and a death is told to who waits for it. */
  #changing = 0;
  #respawning = false;

  constructor(options: ThreadOptions) {
    this.name = options.name;
    this.#options = options;
    this.#bell = Doorbell.at(options.bell);
  }

  get services(): readonly string[] {
    return [...this.#services.keys()];
  }

  get policy(): DeathPolicy {
    for (const { spec } of this.#services.values()) if (spec.onDeath === 'fatal') return 'fatal';
    return 'restart';
  }

  /** Nothing runs on it and nothing is about to. */
  get empty(): boolean {
    return this.#services.size === 0 && this.#changing === 0;
  }

  beat(): number | undefined {
    return this.#changing > 0 || this.#respawning ? undefined : this.lastBeat();
  }

  /** The heartbeat word also while a service starts or stops; undefined when no worker is there. */
  lastBeat(): number | undefined {
    return this.#life?.ended === false ? Atomics.load(this.#beat, 0) : undefined;
  }

  get figures(): ThreadFigures {
    const id = this.#life?.ended === false ? Atomics.load(this.#linuxId, 0) : 0;
    return { name: this.name, linuxId: id === 0 ? undefined : id, wakeUps: this.#bell.rings };
  }

  /** Brings the thread up before a service is asked for. */
  warm(): void {
    this.#alive();
  }

  /** Adds a service and waits for its READY. */
  async add(spec: ServiceSpec): Promise<RunningService> {
    const service = new ThreadService(spec, this, this.#bell);
    this.#changing++;
    try {
      await this.#attach(this.#alive(), service);
      this.#services.set(spec.name, service);
      return service;
    } finally {
      this.#changing--;
    }
  }

  /** Last steps and close of a service. */
  async remove(service: ThreadService): Promise<void> {
    const life = this.#life;
    this.#services.delete(service.name);
    this.#changing++;
    try {
      if (life !== undefined && !life.ended) await life.gate.run(service.name, () => life.control.remove(service.name));
    } finally {
      this.#changing--;
      service.gate.close(new KernelError('SERVICE_STOPPED', `service '${service.name}' has stopped`));
      await this.#options.onRemoved(this, service.name);
    }
  }

  /** Asks the worker to leave its loop; resolves when the thread is gone. */
  async end(): Promise<void> {
    const life = this.#life;
    if (life === undefined || life.ended) return;
    life.gate.run(this.name, () => life.control.end()).catch(() => undefined);
    await life.exited;
  }

  /** Ends the worker where it stands. Does not wait: one that sits in a system call stays until it comes out. */
  terminate(): void {
    void this.#life?.worker.terminate();
  }

  async respawn(): Promise<void> {
    this.#respawning = true;
    try {
      const life = this.#alive();
      for (const service of this.#services.values()) if (service.life !== life) await this.#attach(life, service);
      if (life.ended) throw deathOf(this, life.cause);
    } catch (error) {
      this.terminate();
      // Its exit is no second death.
      this.#life = undefined;
      throw error;
    } finally {
      this.#respawning = false;
    }
    for (const { spec } of this.#services.values()) spec.onRestart?.();
  }

  async #attach(life: Life, service: ThreadService): Promise<void> {
    const { name, url, boot } = service.spec;
    const { port1, port2 } = new MessageChannel();
    const gate = service.connect(life, connect<CallTarget>(port1, this.#bell).remote);
    try {
      const ready = life.gate.run(name, () => life.control.add(name, url.href, boot, transfer(port2, [port2])));
      await withLimit(ready, this.#options.limits.readyTimeoutMs, (ms) => {
        return new KernelError('SERVICE_NOT_READY', `service '${name}' (${url.href}) is not ready after ${ms} ms`);
      });
    } catch (cause) {
      const error =
        cause instanceof KernelError
          ? cause
          : wrapped('SERVICE_FAILED', `service '${name}' cannot be given its boot`, cause);
      gate.close(error);
      port1.close();
      // It may still become ready after the limit: nobody would know of it.
      life.gate.run(name, () => life.control.remove(name)).catch(() => undefined);
      throw error;
    }
    life.exited.then(
      () => {
        gate.close(deathOf(this, life.cause));
        port1.close();
      },
      () => undefined,
    );
  }

  #alive(): Life {
    if (this.#life === undefined || this.#life.ended) this.#life = this.#spawn();
    return this.#life;
  }

  #spawn(): Life {
    const { limits, bell } = this.#options;
    const { port1, port2 } = new MessageChannel();
    Atomics.store(this.#linuxId, 0, 0);
    const boot: ThreadBoot = {
      name: this.name,
      control: port2,
      bellWords: bell.words,
      bellSlot: bell.index,
      beat: this.#beat,
      linuxId: this.#linuxId,
      logLevel: limits.logLevel,
    };
    const worker = new Worker(HOST_ENTRY, {
      name: this.name,
      workerData: boot,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: limits.youngGenerationMb },
    });
    const life: Life = {
      worker,
      control: connect<ThreadControl>(port1, this.#bell).remote,
      gate: new CallGate(),
      exited: new Promise((resolve) => worker.once('exit', () => resolve())),
      cause: undefined,
      ended: false,
    };
    worker.on('message', (word: LastWord) => (life.cause = fromWire(word.died)));
    worker.on('error', (error) => (life.cause ??= error));
    worker.once('exit', (code) => {
      life.ended = true;
      life.cause ??= new Error(`its thread ended with code ${code}`);
      life.gate.close(deathOf(this, life.cause));
      port1.close();
      if (life === this.#life && this.#services.size > 0 && !this.#respawning) this.#options.onDeath(this, life.cause);
    });
    return life;
  }
}

/** The kernel's handle of a service on a worker thread. The same object before and after a restart. */
export class ThreadService implements RunningService {
  readonly inProcess = false;
  readonly name: string;
  readonly calls: object;
  gate = new CallGate();
  /** The worker that runs it now, or ran it last. */
  life: Life | undefined;
  #call: (method: string, args: readonly unknown[]) => Promise<unknown> = neverStarted;
  #stopped: Promise<void> | undefined;

  constructor(
    readonly spec: ServiceSpec,
    private readonly thread: ServiceThread,
    readonly bell: Doorbell,
  ) {
    this.name = spec.name;
    this.calls = methodsOf((method, args) => this.gate.run(`${this.name}.${method}`, () => this.#call(method, args)));
  }

  /** Calls go to this worker from now on. */
  connect(life: Life, target: ComlinkRemote<CallTarget>): CallGate {
    this.life = life;
    this.#call = async (method, args) => target.call(method, args);
    this.gate = new CallGate();
    return this.gate;
  }

  kick(): void {
    this.bell.ring();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.thread.remove(this);
    return this.#stopped;
  }
}

function neverStarted(): Promise<never> {
  return Promise.reject(new KernelError('SERVICE_NOT_READY', 'the service has not started'));
}
