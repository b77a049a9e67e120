import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { Endpoint } from 'comlink';

/** Messages taken from one port in one turn. */
const DRAIN_MAX = 64;

type Listener = (event: { readonly data: unknown }) => void;

/**
 * The worker's end of a port. While a thread sits in `Atomics.wait` its event loop does not turn and no port delivers, so the
 * thread's loop asks the port itself.
 */
export class PortEndpoint {
  readonly #port: MessagePort;
  readonly #listeners = new Set<Listener>();
  #unanswered = 0;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  /** Calls that came and were not answered yet: their promises need turns of the microtask queue. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** Hands over what has come. Returns the number of messages. */
  drain(): number {
    let count = 0;
    while (count < DRAIN_MAX) {
      const received = receiveMessageOnPort(this.#port) as { message: unknown } | undefined;
      if (received === undefined) break;
      count++;
      this.#unanswered++;
      for (const listener of this.#listeners) listener({ data: received.message });
    }
    return count;
  }

  close(): void {
    this.#port.close();
  }

  /** This port as comlink wants it. */
  asEndpoint(): Endpoint {
    const endpoint = {
      postMessage: (message: unknown, transfer?: readonly MessagePort[]): void => {
        this.#unanswered--;
        this.#port.postMessage(message, transfer as MessagePort[] | undefined);
      },
      addEventListener: (_type: string, listener: Listener): void => void this.#listeners.add(listener),
      removeEventListener: (_type: string, listener: Listener): void => void this.#listeners.delete(listener),
    };
    return endpoint as unknown as Endpoint;
  }
}
