import { KernelError } from '../../kernel/base/errors.js';
import type { RequestHandler, RequestRouter } from './contract.js';

/** Request code to handler, and what runs at the end of a socket chunk. */
export class Router implements RequestRouter {
  readonly #handlers = new Map<number, RequestHandler>();
  readonly #chunkEnds: (() => void)[] = [];

  handle(code: number, handler: RequestHandler): void {
    this.handleInPlace(code, (request, connection) => handler(request.copied(), connection));
  }

  handleInPlace(code: number, handler: RequestHandler): void {
    if (this.#handlers.has(code)) throw new KernelError('HANDLER_TWICE', `request code ${code} has a handler already`);
    this.#handlers.set(code, handler);
  }

  onChunkEnd(listener: () => void): void {
    this.#chunkEnds.push(listener);
  }

  find(code: number): RequestHandler | undefined {
    return this.#handlers.get(code);
  }

  chunkEnd(): void {
    for (const listener of this.#chunkEnds) listener();
  }
}
