import type { InjectionToken } from 'tsyringe';
import type { ExtFields, Request } from '../../protocol/command.js';

/** What a handler answers. Written in the header form in which the request came; dropped for one-way requests. */
export interface Reply {
  readonly code: number;
  readonly remark?: string | null;
  readonly ext?: ExtFields;
  /** One buffer or several that follow each other; not copied before they are written. */
  readonly body?: Buffer | readonly Buffer[];
}

/**
 * Returns the reply, a promise of it, or undefined when the handler answers later itself through `connection.reply`.
 * A thrown FieldError is answered 1 naming the field, any other error 1 with its message.
 */
export type RequestHandler = (
  request: Request,
  connection: Connection,
) => Reply | undefined | Promise<Reply | undefined>;

/** The answer of a peer to a request of ours. */
export interface PeerResponse {
  readonly code: number;
  readonly remark: string | null;
  readonly ext: ExtFields;
  readonly body: Buffer;
}

export interface Connection {
  readonly id: number;
  /** `host:port` as 4.9.7 prints it; IPv4-mapped IPv6 peers appear as IPv4. */
  readonly remote: string;
  readonly remoteHost: string;
  readonly remotePort: number;
  /** Bytes of the peer's address, 4 or 16, for the born host of a record. */
  readonly remoteAddress: Buffer;
  readonly closed: boolean;
  /** Written and not yet taken by the peer. */
  readonly backlogBytes: number;
  /** Milliseconds on the monotonic clock of the last byte received. */
  readonly lastReadMonoMs: number;
  reply(request: Pick<Request, 'opaque' | 'serialize' | 'oneway'>, reply: Reply): void;
  /**
   * Space for `bytesMax` bytes in `outbound`, at the returned index; `written` says how much of it was used. It leaves in one write
   * at the end of the turn. The fast path of send answers: nothing else may be asked of the connection in between.
   */
  reserve(bytesMax: number): number;
  readonly outbound: Buffer;
  written(end: number): void;
  /** One-way request to the peer. */
  notify(code: number, ext: ExtFields, body?: Buffer): void;
  /** Request to the peer; rejects with KernelError on timeout or a closed connection. */
  call(code: number, ext: ExtFields, body: Buffer | undefined, timeoutMs: number): Promise<PeerResponse>;
  /** Back pressure, counted: reading goes on when each pause was resumed. */
  pause(): void;
  resume(): void;
  close(reason: string): void;
}

/** Where plugins put their handlers, one per request code; a second one for a code is an error. */
export interface RequestRouter {
  /** The request's bytes are the handler's own. */
  handle(code: number, handler: RequestHandler): void;
  /** For codes that come by the hundred thousand: the bytes are overwritten after the call, what is kept must be copied before. */
  handleInPlace(code: number, handler: RequestHandler): void;
  /** Runs once after all requests of one socket chunk were handled: publish here, once per chunk. */
  onChunkEnd(listener: () => void): void;
}
export const RequestRouter: InjectionToken<RequestRouter> = Symbol('RequestRouter');

export interface Connections {
  readonly count: number;
  onClose(listener: (connection: Connection) => void): void;
  /** The port really bound, after `open`. */
  readonly port: number;
}
export const Connections: InjectionToken<Connections> = Symbol('Connections');

/** The name server listens on a port of its own; same shapes, tokens of its own. */
export const NamesrvRouter: InjectionToken<RequestRouter> = Symbol('NamesrvRouter');
export const NamesrvConnections: InjectionToken<Connections> = Symbol('NamesrvConnections');
