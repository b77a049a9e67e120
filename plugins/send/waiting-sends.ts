import type { Request } from '../../protocol/command.js';
import type { Connection } from '../remoting/contract.js';
import { Fifo } from '../../kernel/base/fifo.js';

/** A send whose bytes were copied out of its socket's chunk. */
export interface WaitingSend {
  readonly request: Request;
  readonly connection: Connection;
  readonly bytes: number;
  readonly sinceMonoMs: number;
}

/**
 * Sends that found the ring full, in order, bounded in bytes. While the bound is reached the connections that send are paused: the
 * only case in which a socket is, since pulls and heartbeats share it.
 */
export class WaitingSends {
  readonly #queue = new Fifo<WaitingSend>(64);
  readonly #paused = new Set<Connection>();
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  get size(): number {
    return this.#queue.size;
  }

  add(request: Request, connection: Connection, nowMonoMs: number): void {
    const copy = request.copied();
    const bytes = copy.buffer.length;
    this.#queue.push({ request: copy, connection, bytes, sinceMonoMs: nowMonoMs });
    this.#bytes += bytes;
    if (this.#bytes < this.bytesMax || this.#paused.has(connection)) return;
    this.#paused.add(connection);
    connection.pause();
  }

  peek(): WaitingSend | undefined {
    return this.#queue.peek();
  }

  shift(): void {
    this.#bytes -= this.#queue.shift().bytes;
    if (this.#bytes >= this.bytesMax || this.#paused.size === 0) return;
    for (const connection of this.#paused) connection.resume();
    this.#paused.clear();
  }
}
