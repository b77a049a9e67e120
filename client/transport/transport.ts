import type { Clock } from '../../kernel/base/clock.js';
import type { Logger } from '../../kernel/base/logger.js';
import { ResponseCode } from '../../protocol/codes.js';
import type { Request, Serialize } from '../../protocol/command.js';
import { ClientError } from '../errors.js';
import { Channel, type Answer, type Call, type ClientReply, type IncomingHandler } from './channel.js';

export interface TransportOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly serialize: Serialize;
  /** Longest wait for a TCP connection. Default 3,000 (4.9: connectTimeoutMillis). */
  readonly connectTimeoutMs?: number | undefined;
}

/** Connections by address: made when first needed, made again when they were lost. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #connectTimeoutMs: number;
  /** Open or being dialled. */
  readonly #channels = new Map<string, Promise<Channel>>();
  /** Those that are open: no promise and no timer for a request on them. */
  readonly #open = new Map<string, Channel>();
  readonly #handlers = new Map<number, IncomingHandler>();
  #stopped = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 3000;
  }

  /** Serves a request code of the server. Codes without a handler are answered 3. */
  handle(code: number, handler: IncomingHandler): void {
    this.#handlers.set(code, handler);
  }

  /** Resolves with the answer, whatever its code; `timeoutMs` includes connecting. Rejects with ClientError. */
  async invoke(address: string, call: Call, timeoutMs: number): Promise<Answer> {
    const open = this.#open.get(address);
    if (open !== undefined && !this.#stopped) return open.invoke(call, timeoutMs);
    const beganMs = this.#options.clock.monoMs();
    const channel = await within(this.#channel(address, timeoutMs), timeoutMs, address);
    const restMs = timeoutMs - (this.#options.clock.monoMs() - beganMs);
    if (restMs <= 0)
      throw new ClientError('REQUEST_TIMEOUT', `connecting to ${address} used up the ${Math.round(timeoutMs)} ms`);
    return channel.invoke(call, restMs);
  }

  /** As `invoke`, but a code other than those wanted (default SUCCESS) rejects with REFUSED. */
  async request(
    address: string,
    call: Call,
    timeoutMs: number,
    wanted: readonly number[] = [ResponseCode.SUCCESS],
  ): Promise<Answer> {
    const answer = await this.invoke(address, call, timeoutMs);
    if (!wanted.includes(answer.code)) throw refused(address, call.code, answer);
    return answer;
  }

  /** Resolves when the request is handed to the socket. */
  async oneway(address: string, call: Call, timeoutMs = this.#connectTimeoutMs): Promise<void> {
    (await this.#channel(address, timeoutMs)).oneway(call);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const dialled = await Promise.allSettled(this.#channels.values());
    this.#channels.clear();
    await Promise.all(dialled.map((one) => (one.status === 'fulfilled' ? one.value.end() : undefined)));
  }

  #channel(address: string, timeoutMs: number): Promise<Channel> {
    if (this.#stopped) return Promise.reject(new ClientError('NOT_RUNNING', 'this client was stopped'));
    const known = this.#channels.get(address);
    if (known !== undefined) return known;
    const { clock, serialize } = this.#options;
    const dialled = Channel.dial(address, Math.min(this.#connectTimeoutMs, timeoutMs), {
      clock,
      serialize,
      onRequest: (request, from) => this.#serve(request, from),
      onClose: (channel, reason) => this.#closed(channel, dialled, reason),
    });
    this.#channels.set(address, dialled);
    dialled.then(
      (channel) => this.#opened(channel, dialled),
      () => this.#forget(address, dialled),
    );
    return dialled;
  }

  #opened(channel: Channel, dialled: Promise<Channel>): void {
    if (this.#channels.get(channel.address) === dialled && channel.open) this.#open.set(channel.address, channel);
  }

  #forget(address: string, dialled: Promise<Channel>): void {
    if (this.#channels.get(address) !== dialled) return;
    this.#channels.delete(address);
    this.#open.delete(address);
  }

  #closed(channel: Channel, dialled: Promise<Channel>, reason: string): void {
    this.#forget(channel.address, dialled);
    if (!this.#stopped) this.#options.logger.info({ address: channel.address, reason }, 'connection ended');
  }

  #serve(request: Request, from: string): ClientReply | undefined | Promise<ClientReply | undefined> {
    const handler = this.#handlers.get(request.code);
    if (handler !== undefined) return handler(request, from);
    return {
      code: ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
      remark: `request code ${request.code} is not supported by this client`,
    };
  }
}

/** Another caller with more time may be dialling: this one waits no longer than its own time. */
async function within(dialled: Promise<Channel>, timeoutMs: number, address: string): Promise<Channel> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const why = `no connection within ${Math.round(timeoutMs)} ms`;
    timer = setTimeout(
      () => reject(new ClientError('CONNECT_FAILED', `cannot connect to ${address}: ${why}`)),
      Math.max(1, timeoutMs),
    );
  });
  try {
    return await Promise.race([dialled, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The error for an answer whose code means failure. */
export function refused(address: string, requestCode: number, answer: Answer): ClientError {
  // Remarks may hold whole stack traces of the server; an error is one line.
  const why = (answer.remark ?? '').replace(/\s+/g, ' ').trim() || 'without a reason';
  return new ClientError('REFUSED', `${address} refused request ${requestCode} with code ${answer.code}: ${why}`, {
    responseCode: answer.code,
  });
}
