import type { MessagePort } from 'node:worker_threads';
import { expose } from 'comlink';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { Doorbell } from '../ring/wait.js';
import { invoke, type CallTarget } from './calls.js';
import { PortEndpoint } from './endpoint.js';
import { wrapped } from './errors.js';
import { TURN_CEILING_MS } from './limits.js';
import type { Service, ServiceFactory } from './service.js';
import { finish, restOf, waitOf } from './steps.js';

/** What the kernel may ask of a thread. */
export interface ThreadControl {
  /** Adds a service: READY when it resolves. Rejects with SERVICE_FAILED naming it; the thread goes on with the others. */
  add(name: string, url: string, boot: unknown, port: MessagePort): Promise<void>;
  /** Last steps and close of a service; nothing when it is not here. */
  remove(name: string): Promise<void>;
  /** Leaves the loop after this turn. */
  end(): void;
}

export interface LoopOptions {
  readonly control: MessagePort;
  /** This thread's bell, of which it is the owner. */
  readonly bell: Doorbell;
  /** One word: this thread writes the low 32 bits of its monotonic milliseconds in every turn, the supervisor reads. */
  readonly beat: Int32Array;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest sleep while somebody waits for the answer of a control call: microtasks stand still in a sleep. */
const UNANSWERED_MS = 10;

interface Hosted {
  readonly name: string;
  readonly service: Service;
  readonly endpoint: PortEndpoint;
}

/** The loop of a worker thread: the services' steps, control calls between them, sleep until the bell. */
export class ThreadLoop {
  readonly #options: LoopOptions;
  readonly #control: PortEndpoint;
  readonly #hosted: Hosted[] = [];
  /** Services to add and to remove, in the order asked. Importing needs the event loop, so it is done between two turns. */
  readonly #changes: (() => Promise<void>)[] = [];
  /** Calls came since the last turn of the event loop. */
  #called = false;
  #ended = false;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#control = new PortEndpoint(options.control);
    const control: ThreadControl = {
      add: (name, url, boot, port) => this.#change(() => this.#add(name, url, boot, port)),
      remove: (name) => this.#change(() => this.#remove(name)),
      end: () => {
        this.#ended = true;
      },
    };
    expose(control, this.#control.asEndpoint());
  }

  /** Resolves after `end`; rejects with SERVICE_FAILED when a step throws: then the thread has to end. */
  async run(): Promise<void> {
    const { bell } = this.#options;
    this.#beat();
    while (!this.#ended) {
      this.#drain();
      for (let change = this.#changes.shift(); change !== undefined; change = this.#changes.shift()) {
        await change();
        this.#beat();
      }
      // An answer takes several microtasks; it leaves before the step, which may be long or the last one.
      if (this.#called) await nextTurn();
      this.#called = false;
      const waitMs = this.#turn();
      // Some answers wait for a step that resolves their promise; that may be the one of the recheck.
      const unanswered = this.#unanswered();
      if (unanswered) await nextTurn();
      if (waitMs === 0 || this.#ended) continue;
      const restMs = restOf(this.#hosted);
      if (restMs > 0) bell.rest(restMs);
      else bell.sleep(unanswered ? Math.min(waitMs, UNANSWERED_MS) : waitMs, this.#recheck);
    }
    await nextTurn();
  }

  #beat(): void {
    Atomics.store(this.#options.beat, 0, Math.trunc(this.#options.clock.monoMs()) | 0);
  }

  /** One step of each service. Returns the milliseconds to sleep, 0 when there is more to do. */
  #turn(): number {
    this.#beat();
    let waitMs = TURN_CEILING_MS;
    for (const { name, service } of this.#hosted) {
      try {
        waitMs = Math.min(waitMs, waitOf(service.step()));
      } catch (error) {
        throw wrapped('SERVICE_FAILED', `service '${name}' failed in step`, error);
      }
    }
    return waitMs;
  }

  /** Rings between the last step and the sleep are lost on the bell, so the services look once more. */
  readonly #recheck = (): boolean => this.#drain() > 0 || this.#turn() === 0;

  #drain(): number {
    let count = this.#control.drain();
    for (const { endpoint } of this.#hosted) count += endpoint.drain();
    if (count > 0) this.#called = true;
    return count;
  }

  #unanswered(): boolean {
    if (this.#control.unanswered > 0) return true;
    for (const { endpoint } of this.#hosted) if (endpoint.unanswered > 0) return true;
    return false;
  }

  #change(make: () => Promise<void>): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#changes.push(() => make().then(resolve, reject));
    });
  }

  async #add(name: string, url: string, boot: unknown, port: MessagePort): Promise<void> {
    const { clock, logger } = this.#options;
    const service = await createService(name, url, boot, { clock, logger: logger.child({ service: name }) });
    const endpoint = new PortEndpoint(port);
    const target: CallTarget = { call: (method, args) => invoke(name, service.calls, method, args) };
    expose(target, endpoint.asEndpoint());
    this.#hosted.push({ name, service, endpoint });
  }

  async #remove(name: string): Promise<void> {
    const index = this.#hosted.findIndex((hosted) => hosted.name === name);
    const hosted = this.#hosted[index];
    if (hosted === undefined) return;
    this.#hosted.splice(index, 1);
    hosted.endpoint.close();
    try {
      finish(hosted.service);
    } catch (error) {
      throw wrapped('SERVICE_FAILED', `service '${name}' failed while it stopped`, error);
    }
  }
}

/** Imports an entry file and makes its service. Rejects with SERVICE_FAILED naming service and file. */
export async function createService(
  name: string,
  url: string,
  boot: unknown,
  context: Parameters<ServiceFactory<unknown>>[1],
): Promise<Service> {
  try {
    const entry = (await import(url)) as { default?: ServiceFactory<unknown> };
    if (typeof entry.default !== 'function') throw new TypeError('its default export is not a function');
    return checkService(await entry.default(boot, context));
  } catch (error) {
    throw wrapped('SERVICE_FAILED', `service '${name}' (${url}) failed to start`, error);
  }
}

export function checkService(service: Service): Service {
  if (typeof service?.step !== 'function' || typeof service.close !== 'function')
    throw new TypeError('its factory must return an object with step and close');
  return service;
}

/** Lets the event loop turn once, and with it every microtask that is due. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
