import type { Clock } from '../base/clock.js';
import { KernelError } from '../base/errors.js';
import { CallGate, invoke, methodsOf } from './calls.js';
import type { DeathPolicy } from './contract.js';
import { fromWire, toWire, wrapped } from './errors.js';
import type { RunningService, Service } from './service.js';
import { finish, restOf, waitOf } from './steps.js';
import { deathOf, type Supervised } from './supervisor.js';

export interface TwinOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly onDeath: DeathPolicy;
  readonly onRestart: (() => void) | undefined;
  /** Makes the service; again at every restart. */
  readonly create: () => Promise<Service>;
  readonly died: (twin: Twin, cause: unknown) => void;
  readonly stopped: (twin: Twin) => void;
}

/** A service on the caller's thread behind the same interface as one on a thread of its own: same steps, same calls. */
export class Twin implements RunningService, Supervised {
  readonly inProcess = true;
  readonly name: string;
  readonly services: readonly string[];
  readonly policy: DeathPolicy;
  readonly bell = { ring: (): void => this.#ring() };
  readonly calls: object;
  readonly #options: TwinOptions;
  #service: Service | undefined;
  #gate = new CallGate();
  #stepping = false;
  #again = false;
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = 0;
  /** Until then bells are not heard; the timer brings the next turn. */
  #restsUntilMs = 0;
  #stop: Promise<void> | undefined;

  /** Makes the service and gives it its first turn soon. */
  static async start(options: TwinOptions): Promise<Twin> {
    const twin = new Twin(options);
    twin.#service = await options.create();
    twin.#ring();
    return twin;
  }

  private constructor(options: TwinOptions) {
    this.#options = options;
    this.name = options.name;
    this.services = [options.name];
    this.policy = options.onDeath;
    this.calls = methodsOf((method, args) => this.#gate.run(`${this.name}.${method}`, () => this.#call(method, args)));
  }

  beat(): undefined {
    return undefined;
  }

  /** One step now. Inside a step of its own it is put off until that one has returned. */
  kick(): void {
    if (this.#service === undefined) return;
    if (this.#stepping) {
      this.#again = true;
      return;
    }
    this.#stepping = true;
    try {
      const waitMs = waitOf(this.#service.step());
      // As on a thread: who has more to do does not rest, and a bell within the rest is heard after it.
      const restMs = waitMs === 0 ? 0 : restOf([{ service: this.#service }]);
      this.#restsUntilMs = restMs > 0 ? this.#options.clock.monoMs() + restMs : 0;
      if (restMs > 0) this.#wake(restMs);
      else if (waitMs === 0 || this.#again) this.#ring();
      else this.#wake(waitMs);
    } catch (error) {
      this.#die(wrapped('SERVICE_FAILED', `service '${this.name}' failed in step`, error));
    } finally {
      this.#stepping = false;
      this.#again = false;
    }
  }

  stop(): Promise<void> {
    this.#stop ??= Promise.resolve().then(() => {
      const service = this.#service;
      this.#end(new KernelError('SERVICE_STOPPED', `service '${this.name}' has stopped`));
      this.#options.stopped(this);
      if (service === undefined) return;
      try {
        finish(service);
      } catch (error) {
        throw wrapped('SERVICE_FAILED', `service '${this.name}' failed while it stopped`, error);
      }
    });
    return this.#stop;
  }

  async respawn(): Promise<void> {
    const service = await this.#options.create();
    if (this.#stop !== undefined) return service.close();
    this.#service = service;
    this.#gate = new CallGate();
    this.#ring();
    this.#options.onRestart?.();
  }

  #ring(): void {
    if (this.#immediate !== undefined || this.#service === undefined) return;
    if (this.#restsUntilMs > 0 && this.#options.clock.monoMs() < this.#restsUntilMs) return;
    this.#immediate = setImmediate(() => {
      this.#immediate = undefined;
      this.kick();
    });
  }

  /** Keeps one timer, set anew only when the service wants its turn earlier: a step too early does no harm. */
  #wake(waitMs: number): void {
    const atMs = this.#options.clock.monoMs() + waitMs;
    if (this.#timer !== undefined) {
      if (this.#timerAtMs <= atMs) return;
      clearTimeout(this.#timer);
    }
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.kick();
    }, Math.ceil(waitMs)).unref();
  }

  /** As on a thread: arguments, result and error are copies, and the service gets a turn afterwards. */
  async #call(method: string, args: readonly unknown[]): Promise<unknown> {
    const service = this.#service;
    try {
      const copies = structuredClone(args);
      // A caller hears nothing before its own stack is left, as from another thread.
      await Promise.resolve();
      return structuredClone(await invoke(this.name, service?.calls, method, copies));
    } catch (error) {
      throw fromWire(toWire(error));
    } finally {
      this.#ring();
    }
  }

  /** A thread's descriptors are closed with it; a twin's have to be closed before a restart opens them again. */
  #die(cause: KernelError): void {
    const service = this.#service;
    this.#end(deathOf(this, cause));
    if (this.policy === 'restart') {
      try {
        service?.close();
      } catch {
        // It is broken already; the error that is told is the first one.
      }
    }
    this.#options.died(this, cause);
  }

  #end(error: KernelError): void {
    this.#service = undefined;
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
    this.#immediate = undefined;
    this.#timer = undefined;
    this.#gate.close(error);
  }
}
