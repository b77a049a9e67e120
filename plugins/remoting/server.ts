import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Clock } from '../../kernel/base/clock.js';
import { KernelError, messageOf, systemCodeOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { decodeCommand, ProtocolError, type Request } from '../../protocol/command.js';
import { ResponseCode } from '../../protocol/codes.js';
import { FieldError } from '../../protocol/fields.js';
import { FrameBudget } from '../../protocol/frame.js';
import { SocketConnection, type ConnectionHost } from './connection.js';
import type { Connection, Connections, Reply, RequestHandler } from './contract.js';
import { readInto } from './reused-reads.js';
import type { Router } from './router.js';

export interface ServerLimits {
  readonly frameBytesHeldMax: number;
  readonly outboundBytesMax: number;
  readonly connectionsMax: number;
  /** Connections waiting to be accepted. */
  readonly backlog: number;
  /** serverChannelMaxIdleTimeSeconds in ms. */
  readonly idleMs: number;
}

/** As much as one read of a socket brings. */
const READ_BYTES = 64 * 1024;
const SWEEP_MS = 5000;
/** A frame smaller than this that is not complete after so long comes from a sender too slow to be real. */
const SLOW_FRAME_MS = 30_000;
const SLOW_FRAME_BYTES = 64 * 1024;

/** One listener's sockets: frames in, handlers by code, one write per connection and turn out. */
export class RemotingServer implements Connections, ConnectionHost {
  readonly budget: FrameBudget;
  readonly #servers: Server[] = [];
  readonly #connections = new Map<number, SocketConnection>();
  readonly #closeListeners: ((connection: Connection) => void)[] = [];
  /** All sockets are read into it: what came was copied or answered before the next one is read. */
  readonly #read = Buffer.allocUnsafeSlow(READ_BYTES);
  #dirty: SocketConnection[] = [];
  #nextId = 1;
  #port = 0;
  #sweep: NodeJS.Timeout | undefined;
  #refusing = false;
  #onEmpty: (() => void) | undefined;

  constructor(
    readonly name: string,
    private readonly router: Router,
    private readonly limits: ServerLimits,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.budget = new FrameBudget(limits.frameBytesHeldMax);
  }

  get outboundBytesMax(): number {
    return this.limits.outboundBytesMax;
  }

  get count(): number {
    return this.#connections.size;
  }

  get port(): number {
    return this.#port;
  }

  onClose(listener: (connection: Connection) => void): void {
    this.#closeListeners.push(listener);
  }

  /** Listens; the first port is the one that `port` tells. An empty address means all of them. */
  async listen(address: string, ports: readonly number[]): Promise<void> {
    for (const port of ports) {
      const server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => this.#accept(socket));
      await this.#bind(server, address, port);
      this.#servers.push(server);
      if (this.#servers.length === 1) this.#port = (server.address() as AddressInfo).port;
    }
    this.#sweep = setInterval(() => this.#sweepIdle(), SWEEP_MS);
  }

  /** No new connections; those that are there go on. */
  stopAccepting(): void {
    for (const server of this.#servers) server.close();
  }

  /** Writes what is left and ends every connection. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const ended = this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const connection of [...this.#connections.values()]) connection.close('the server stops');
    const force = setTimeout(() => this.#connections.forEach(({ socket }) => socket.destroy()), 1000);
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
    await Promise.all(ended);
    clearTimeout(force);
  }

  wantFlush(connection: SocketConnection): void {
    if (this.#dirty.push(connection) === 1) process.nextTick(() => this.#flush());
  }

  closing(connection: SocketConnection, reason: string): void {
    if (connection.closed) return;
    connection.closed = true;
    this.logger.debug({ remote: connection.remote, reason }, 'connection ends');
    connection.assembler.release();
    connection.calls.abandon(connection.remote);
    for (const listener of this.#closeListeners) listener(connection);
  }

  #bind(server: Server, address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      server.once('error', (error) => reject(this.#bindError(error, address, port)));
      server.listen({ host: address === '' ? undefined : address, port, backlog: this.limits.backlog }, () => {
        server.removeAllListeners('error');
        server.on('error', (error) =>
          this.logger.warn({ error: messageOf(error) }, 'a connection could not be accepted'),
        );
        resolve();
      });
    });
  }

  #bindError(error: Error, address: string, port: number): KernelError {
    const inUse = systemCodeOf(error) === 'EADDRINUSE';
    return new KernelError(
      inUse ? 'PORT_IN_USE' : 'LISTEN_FAILED',
      `the ${this.name} cannot listen on ${address || 'all addresses'} port ${port}: ${inUse ? 'the port is in use' : error.message}`,
      { cause: error, remedy: 'choose another port or end what uses it' },
    );
  }

  #accept(accepted: Socket): void {
    if (this.#connections.size >= this.limits.connectionsMax || accepted.remoteAddress === undefined) {
      if (!this.#refusing)
        this.logger.warn({ connections: this.#connections.size }, 'new connections are refused (connectionsMax)');
      this.#refusing = true;
      accepted.destroy();
      return;
    }
    this.#refusing = false;
    const socket = readInto(accepted, this.#read, (chunk) => this.#chunk(connection, chunk, onFrame));
    const connection = new SocketConnection(this.#nextId++, socket, this, this.clock.monoMs());
    this.#connections.set(connection.id, connection);
    const onFrame = (buffer: Buffer, start: number, end: number): void => this.#frame(connection, buffer, start, end);
    socket.on('error', (error) => this.closing(connection, error.message));
    socket.on('close', () => {
      this.closing(connection, 'the peer closed it');
      this.#connections.delete(connection.id);
      if (this.#connections.size === 0) this.#onEmpty?.();
    });
  }

  #chunk(
    connection: SocketConnection,
    chunk: Buffer,
    onFrame: (buffer: Buffer, start: number, end: number) => void,
  ): void {
    if (connection.closed) return;
    const now = this.clock.monoMs();
    connection.lastReadMonoMs = now;
    try {
      connection.assembler.push(chunk, onFrame);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.logger.warn(
        { remote: connection.remote, error: error.message },
        'a malformed frame: the connection is closed',
      );
      connection.close(error.message);
    }
    // Closed meanwhile, by a handler or for a bad frame: what came behind that is not kept.
    if (connection.closed) connection.assembler.release();
    const partial = connection.assembler.heldBytes > 0;
    if (!partial) connection.partialSinceMonoMs = 0;
    else if (connection.partialSinceMonoMs === 0) connection.partialSinceMonoMs = now;
    this.router.chunkEnd();
  }

  #frame(connection: SocketConnection, buffer: Buffer, start: number, end: number): void {
    if (connection.closed) return;
    connection.partialSinceMonoMs = 0;
    const request = decodeCommand(buffer, start, end);
    if (request.isResponse) {
      connection.calls.answer(request);
      return;
    }
    const handler = this.router.find(request.code);
    if (handler === undefined) {
      connection.reply(request, {
        code: ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        remark: `request type ${request.code} not supported`,
      });
      return;
    }
    this.#handle(handler, request, connection);
  }

  #handle(handler: RequestHandler, request: Request, connection: SocketConnection): void {
    try {
      const reply = handler(request, connection);
      if (reply === undefined) return;
      if (reply instanceof Promise) {
        reply.then(
          (late) => late !== undefined && connection.reply(request, late),
          (error: unknown) => connection.reply(request, this.#errorReply(error, request, connection)),
        );
      } else connection.reply(request, reply);
    } catch (error) {
      connection.reply(request, this.#errorReply(error, request, connection));
    }
  }

  #errorReply(error: unknown, request: Request, connection: SocketConnection): Reply {
    const expected = error instanceof FieldError || error instanceof KernelError || error instanceof ProtocolError;
    this.logger.warn(
      {
        code: request.code,
        remote: connection.remote,
        error: messageOf(error),
        ...(expected ? {} : { stack: stackOf(error) }),
      },
      'a request failed',
    );
    return { code: ResponseCode.SYSTEM_ERROR, remark: messageOf(error) };
  }

  #flush(): void {
    const dirty = this.#dirty;
    this.#dirty = [];
    const now = this.clock.monoMs();
    for (const connection of dirty) connection.flush(now);
  }

  #sweepIdle(): void {
    const now = this.clock.monoMs();
    for (const connection of this.#connections.values()) {
      if (connection.closed) {
        // It was to end when its last answers are written; its peer does not read them.
        connection.socket.destroy();
        continue;
      }
      const { partialSinceMonoMs: since, assembler } = connection;
      if (since > 0 && now - since > SLOW_FRAME_MS && assembler.heldBytes < SLOW_FRAME_BYTES)
        connection.close(`a frame was not complete after ${SLOW_FRAME_MS} ms`);
      const silent = now - Math.max(connection.lastReadMonoMs, connection.lastWriteMonoMs);
      if (silent > SWEEP_MS) connection.releaseSlab();
      if (silent > this.limits.idleMs) connection.close('nothing was heard of it for serverChannelMaxIdleTimeSeconds');
    }
  }
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
