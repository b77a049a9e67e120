import { KernelError } from '../kernel/base/errors.js';

/** What went wrong, for programs; the message says it for people. */
export type ClientErrorCode =
  /** No TCP connection to the address within the time. */
  | 'CONNECT_FAILED'
  /** Connected, but no answer within the time. The request may have been carried out. */
  | 'REQUEST_TIMEOUT'
  /** The connection ended before the answer came. The request may have been carried out. */
  | 'CONNECTION_LOST'
  /** Too many requests or bytes wait on this client; nothing was sent. */
  | 'TOO_MANY_REQUESTS'
  /** The server answered with a response code that means failure; see `responseCode`. */
  | 'REFUSED'
  /** None of the name servers answered. */
  | 'NAMESRV_UNREACHABLE'
  /** No broker serves the topic, or none of its queues may be written. */
  | 'NO_ROUTE'
  /** The broker of a queue is not known to the name servers (any more). */
  | 'NO_BROKER'
  /** The message cannot be sent as it is; nothing was sent. */
  | 'ILLEGAL_MESSAGE'
  /** An option or argument is not usable. */
  | 'ILLEGAL_ARGUMENT'
  /** Used before `start` or after `stop`. */
  | 'NOT_RUNNING';

/** Every error that this SDK throws: a stable code, the server's response code where there is one, a remedy. */
export class ClientError extends KernelError {
  override readonly name = 'ClientError';
  declare readonly code: ClientErrorCode;
  /** The server's response code, when one came (`ResponseCode`). */
  readonly responseCode: number | undefined;

  constructor(
    code: ClientErrorCode,
    message: string,
    options: { cause?: unknown; remedy?: string; responseCode?: number } = {},
  ) {
    super(code, message, { cause: options.cause, remedy: options.remedy });
    this.responseCode = options.responseCode;
  }
}

/** True for failures of the way to the server, where another server may do better. */
export function isTransportFailure(error: unknown): boolean {
  return (
    error instanceof ClientError &&
    (error.code === 'CONNECT_FAILED' || error.code === 'REQUEST_TIMEOUT' || error.code === 'CONNECTION_LOST')
  );
}
