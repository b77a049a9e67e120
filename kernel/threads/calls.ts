import type { MessagePort } from 'node:worker_threads';
import { transferHandlers, wrap, type Endpoint, type Remote, type TransferHandler } from 'comlink';
import nodeAdapter from 'comlink/dist/umd/node-adapter.js';
import { KernelError } from '../base/errors.js';
import { fromWire, toWire, type WireError } from './errors.js';
import type { Bell } from './service.js';

/** The file is CommonJS whose export is the function itself, which its declaration does not say. */
const nodeEndpoint = nodeAdapter as unknown as (port: MessagePort) => Endpoint;

/** What a worker exposes for each service: one entry, so that thread and twin look methods up by the same rule. */
export interface CallTarget {
  call(method: string, args: readonly unknown[]): unknown;
}

/** Calls that wait for an answer, at most, per service. Control only: never one per message. */
const PENDING_MAX = 1000;

/** comlink carries message, name and stack of an error; ours keep code, remedy and causes too. Both sides load this file. */
const plainThrow = transferHandlers.get('throw') as TransferHandler<{ value: unknown }, unknown>;
transferHandlers.set('throw', {
  canHandle: (value: unknown): value is { value: unknown } => plainThrow.canHandle(value),
  serialize: ({ value }: { value: unknown }): [WireError, []] => [toWire(value), []],
  deserialize: (wire: WireError): never => {
    throw fromWire(wire);
  },
});

/** Calls a control method of a service; a name that is none is an error that says so. */
export function invoke(service: string, calls: object | undefined, method: string, args: readonly unknown[]): unknown {
  const target = (calls as Readonly<Record<string, unknown>> | undefined)?.[method];
  if (typeof target !== 'function')
    throw new KernelError('CALL_UNKNOWN', `service '${service}' has no call '${method}'`);
  return Reflect.apply(target, calls, args) as unknown;
}

/** The kernel's end of a port: a comlink proxy whose posts ring the bell, since a worker asleep looks at no port. */
export function connect<T>(port: MessagePort, bell: Bell): { remote: Remote<T> } {
  const endpoint = nodeEndpoint(port);
  const remote = wrap<T>({
    ...endpoint,
    postMessage: (message: unknown, transfer?: Parameters<Endpoint['postMessage']>[1]): void => {
      endpoint.postMessage(message, transfer);
      bell.ring();
    },
  });
  // The worker itself keeps the process up, its ports need not.
  port.unref();
  // In an object: a proxy that is returned by an async function would be asked for its `then`.
  return { remote };
}

/** Control calls in flight to one service: they are rejected when it ends, for comlink would leave them hanging. */
export class CallGate {
  readonly #pending = new Set<(error: Error) => void>();
  #closed: Error | undefined;

  run<T>(what: string, call: () => PromiseLike<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#pending.size >= PENDING_MAX)
      return Promise.reject(
        new KernelError('CALLS_FULL', `${what}: ${PENDING_MAX} calls wait for an answer already`, {
          remedy: 'wait for answers before calling again',
        }),
      );
    return new Promise<T>((resolve, reject) => {
      this.#pending.add(reject);
      call().then(
        (value) => {
          this.#pending.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          this.#pending.delete(reject);
          reject(error as Error);
        },
      );
    });
  }

  /** Rejects what waits and what comes. The first reason stays. */
  close(error: Error): void {
    this.#closed ??= error;
    for (const reject of this.#pending) reject(error);
    this.#pending.clear();
  }
}

/** An object on which every method name is a call: what `callsOf` types. Safe to `await` or to print. */
export function methodsOf(call: (method: string, args: readonly unknown[]) => Promise<unknown>): object {
  const methods = new Map<string, (...args: unknown[]) => Promise<unknown>>();
  return new Proxy(Object.create(null) as object, {
    get: (_target, name) => {
      if (typeof name !== 'string' || name === 'then' || name === 'toJSON') return undefined;
      let method = methods.get(name);
      if (method === undefined) methods.set(name, (method = (...args: unknown[]) => call(name, args)));
      return method;
    },
  });
}
