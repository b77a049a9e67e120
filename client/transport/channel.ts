import net from 'node:net';
import type { Clock } from '../../kernel/base/clock.js';
import { messageOf } from '../../kernel/base/errors.js';
import { LanguageCode } from '../../protocol/codes.js';
import {
  decodeCommand,
  encodeRequest,
  encodeResponse,
  type ExtFields,
  type Request,
  type Serialize,
} from '../../protocol/command.js';
import { FrameAssembler } from '../../protocol/frame.js';
import { ClientError } from '../errors.js';
import { parseAddress } from './address.js';

/** A request to send. */
export interface Call {
  readonly code: number;
  readonly ext?: ExtFields | undefined;
  readonly body?: Uint8Array | undefined;
  readonly remark?: string | undefined;
}

/** What the server answered. The body is a view into received bytes that nobody writes to again. */
export interface Answer {
  readonly code: number;
  readonly remark: string | null;
  readonly ext: ExtFields;
  readonly body: Buffer;
  /** Version ordinal of the server. */
  readonly version: number;
}

/** What this client answers to a request of the server. */
export interface ClientReply {
  readonly code: number;
  readonly remark?: string | undefined;
  readonly ext?: ExtFields | undefined;
  readonly body?: Buffer | undefined;
}

/** Returns the answer (or a promise of it); undefined for one-way requests. A thrown error is answered 1. */
export type IncomingHandler = (
  request: Request,
  from: string,
) => ClientReply | undefined | Promise<ClientReply | undefined>;

export interface ChannelOptions {
  readonly clock: Clock;
  readonly serialize: Serialize;
  readonly onRequest: IncomingHandler;
  readonly onClose: (channel: Channel, reason: string) => void;
}

/** In flight on one connection; 4.9 bounds asynchronous requests the same way (`clientAsyncSemaphoreValue`). */
const PENDING_MAX = 65_535;
/** Bytes that wait for a slow socket. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
/** Deadlines are looked at no later than this, so that an injected clock is followed. */
const SWEEP_MS = 100;

interface Pending {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: ClientError) => void;
  readonly code: number;
  readonly sentMs: number;
  readonly deadlineMs: number;
}

/** One TCP connection: requests with their answers by opaque, one-way requests, and requests of the server. */
export class Channel {
  readonly address: string;
  readonly #options: ChannelOptions;
  readonly #socket: net.Socket;
  readonly #frames = new FrameAssembler();
  readonly #pending = new Map<number, Pending>();
  #opaque = 0;
  #lastReadMs: number;
  #sweep: NodeJS.Timeout | undefined;
  #corked = false;
  #closeReason: string | undefined;

  private constructor(address: string, socket: net.Socket, options: ChannelOptions) {
    this.address = address;
    this.#socket = socket;
    this.#options = options;
    this.#lastReadMs = options.clock.monoMs();
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.close(error.message));
    socket.on('close', () => this.close('closed by the server'));
  }

  /** Connects. Rejects with CONNECT_FAILED when that takes longer than `timeoutMs`. */
  static dial(address: string, timeoutMs: number, options: ChannelOptions): Promise<Channel> {
    const { host, port } = parseAddress(address);
    return new Promise((resolve, reject) => {
      const socket = net.connect({ host, port, noDelay: true, keepAlive: true });
      const failed = (why: string, cause?: unknown): void => {
        clearTimeout(timer);
        socket.destroy();
        reject(new ClientError('CONNECT_FAILED', `cannot connect to ${address}: ${why}`, { cause }));
      };
      const timer = setTimeout(
        () => failed(`no connection within ${Math.round(timeoutMs)} ms`),
        Math.max(1, timeoutMs),
      );
      socket.once('error', (error) => failed(error.message, error));
      socket.once('connect', () => {
        clearTimeout(timer);
        socket.removeAllListeners('error');
        resolve(new Channel(address, socket, options));
      });
    });
  }

  get open(): boolean {
    return this.#closeReason === undefined;
  }

  /** Sends a request and resolves with its answer, whatever its code. Rejects with REQUEST_TIMEOUT, CONNECTION_LOST, TOO_MANY_REQUESTS. */
  invoke(call: Call, timeoutMs: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const refused = this.#refusal();
      if (refused !== undefined) return reject(refused);
      const opaque = this.#nextOpaque();
      const sentMs = this.#options.clock.monoMs();
      const deadlineMs = sentMs + timeoutMs;
      this.#write(encodeRequest({ ...this.#head(call), opaque }));
      this.#pending.set(opaque, { resolve, reject, code: call.code, sentMs, deadlineMs });
      this.#armSweep(timeoutMs);
    });
  }

  /** Sends without asking for an answer. Throws CONNECTION_LOST or TOO_MANY_REQUESTS. */
  oneway(call: Call): void {
    const refused = this.#refusal();
    if (refused !== undefined) throw refused;
    this.#write(encodeRequest({ ...this.#head(call), opaque: this.#nextOpaque(), oneway: true }));
  }

  /** Ends the connection; every request in flight is rejected with CONNECTION_LOST. */
  close(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    clearTimeout(this.#sweep);
    this.#socket.destroy();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const one of pending) one.reject(this.#lost());
    this.#options.onClose(this, reason);
  }

  /** Writes what is still buffered, then closes. */
  async end(): Promise<void> {
    if (this.open) await new Promise<void>((resolve) => this.#socket.end(resolve));
    this.close('closed by this client');
  }

  #head(call: Call): Call & { serialize: Serialize; language: number } {
    return { ...call, serialize: this.#options.serialize, language: LanguageCode.OTHER };
  }

  #lost(): ClientError {
    return new ClientError('CONNECTION_LOST', `the connection to ${this.address} ended (${this.#closeReason})`);
  }

  #refusal(): ClientError | undefined {
    if (this.#closeReason !== undefined) return this.#lost();
    if (this.#pending.size >= PENDING_MAX)
      return new ClientError('TOO_MANY_REQUESTS', `${PENDING_MAX} requests to ${this.address} wait for their answers`, {
        remedy: 'send fewer at a time, or await their results',
      });
    if (this.#socket.writableLength > WAITING_BYTES_MAX)
      return new ClientError(
        'TOO_MANY_REQUESTS',
        `${this.#socket.writableLength} bytes wait to be sent to ${this.address}`,
        {
          remedy: 'send fewer at a time, or await their results',
        },
      );
    return undefined;
  }

  #nextOpaque(): number {
    do this.#opaque = (this.#opaque + 1) & 0x7fffffff;
    while (this.#pending.has(this.#opaque));
    return this.#opaque;
  }

  /** Frames of one turn leave in one write. */
  #write(frame: Buffer): void {
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(frame);
  }

  #read(chunk: Buffer): void {
    this.#lastReadMs = this.#options.clock.monoMs();
    try {
      this.#frames.push(chunk, (buffer, start, end) => this.#frame(decodeCommand(buffer, start, end)));
    } catch (error) {
      this.close(`unreadable bytes: ${messageOf(error)}`);
    }
  }

  #frame(command: Request): void {
    if (!command.isResponse) return void this.#serve(command);
    const pending = this.#pending.get(command.opaque);
    // An answer after its deadline: the caller was already told.
    if (pending === undefined) return;
    this.#pending.delete(command.opaque);
    const { code, remark, ext, body, version } = command;
    pending.resolve({ code, remark, ext, body, version });
  }

  async #serve(request: Request): Promise<void> {
    let reply: ClientReply | undefined;
    try {
      reply = await this.#options.onRequest(request, this.address);
    } catch (error) {
      reply = { code: 1, remark: messageOf(error) };
    }
    if (reply !== undefined && !request.oneway && this.open) this.#write(encodeResponse(request, reply));
  }

  #armSweep(timeoutMs: number): void {
    if (this.#sweep !== undefined) return;
    // After a turn that held the thread for long, answers wait in the socket: read them before judging.
    const sweep = (): void => void setImmediate(() => this.#sweepExpired());
    this.#sweep = setTimeout(sweep, Math.min(SWEEP_MS, Math.max(1, timeoutMs)));
    this.#sweep.unref();
  }

  #sweepExpired(): void {
    this.#sweep = undefined;
    if (this.#closeReason !== undefined) return;
    const nowMs = this.#options.clock.monoMs();
    let nearestMs = Infinity;
    let silent = false;
    for (const [opaque, pending] of this.#pending) {
      if (pending.deadlineMs > nowMs) {
        nearestMs = Math.min(nearestMs, pending.deadlineMs - nowMs);
        continue;
      }
      this.#pending.delete(opaque);
      silent ||= this.#lastReadMs < pending.sentMs;
      const waited = Math.round(pending.deadlineMs - pending.sentMs);
      pending.reject(
        new ClientError(
          'REQUEST_TIMEOUT',
          `${this.address} did not answer request ${pending.code} within ${waited} ms`,
        ),
      );
    }
    // Not a byte since before the request: the peer is gone without having said so. A new connection may reach it.
    if (silent) this.close('nothing was received while a request waited');
    else if (nearestMs !== Infinity) this.#armSweep(nearestMs);
  }
}
