import { messageOf } from '../../kernel/base/errors.js';
import { ResponseCode, Version } from '../../protocol/codes.js';
import { decodeCommand, encodeRequest, Serialize, type ExtFields } from '../../protocol/command.js';
import type {
  Connection,
  Connections,
  PeerResponse,
  Reply,
  RequestHandler,
  RequestRouter,
} from '../../plugins/remoting/contract.js';

export interface Sent {
  readonly code: number;
  readonly ext: ExtFields;
  readonly body: Buffer | undefined;
}

/** A connection without a socket: keeps what it was told to send. */
export class FakeConnection implements Connection {
  static #nextId = 1;
  readonly id = FakeConnection.#nextId++;
  readonly remoteHost = '127.0.0.1';
  readonly remotePort: number;
  readonly remote: string;
  readonly remoteAddress = Buffer.from([127, 0, 0, 1]);
  readonly outbound = Buffer.alloc(65_536);
  readonly replies: Reply[] = [];
  readonly notified: Sent[] = [];
  closed = false;
  closeReason: string | undefined;
  lastReadMonoMs = 0;
  backlogBytes = 0;
  pauses = 0;

  /** `host`: the listener whose close listeners are to hear of the end. */
  constructor(readonly host?: FakeConnections) {
    this.remotePort = 40_000 + this.id;
    this.remote = `${this.remoteHost}:${this.remotePort}`;
  }

  reply(_request: unknown, reply: Reply): void {
    this.replies.push(reply);
  }

  reserve(): number {
    return 0;
  }

  written(): void {
    return;
  }

  notify(code: number, ext: ExtFields, body?: Buffer): void {
    this.notified.push({ code, ext, body });
  }

  call(..._asked: Parameters<Connection['call']>): Promise<PeerResponse> {
    return Promise.reject(new Error('a fake connection has no peer'));
  }

  pause(): void {
    this.pauses++;
  }

  resume(): void {
    this.pauses--;
  }

  close(reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.closeReason = reason;
    this.host?.closed(this);
  }
}

/** A listener without a port: its connections are made by the test. */
export class FakeConnections implements Connections {
  readonly #listeners: ((connection: Connection) => void)[] = [];
  count = 0;

  constructor(readonly port = 10_911) {}

  onClose(listener: (connection: Connection) => void): void {
    this.#listeners.push(listener);
  }

  connect(): FakeConnection {
    this.count++;
    return new FakeConnection(this);
  }

  closed(connection: Connection): void {
    this.count--;
    for (const listener of this.#listeners) listener(connection);
  }
}

export interface FakeCall {
  readonly ext?: ExtFields;
  readonly body?: Buffer;
  readonly connection?: Connection;
  readonly version?: number;
  readonly language?: number;
}

/** A router that a test calls as the network would: the request goes through its wire form. */
export class FakeRouter implements RequestRouter {
  readonly #handlers = new Map<number, RequestHandler>();
  readonly #chunkEnds: (() => void)[] = [];
  #opaque = 0;

  handle(code: number, handler: RequestHandler): void {
    if (this.#handlers.has(code)) throw new Error(`request code ${code} has a handler already`);
    this.#handlers.set(code, handler);
  }

  handleInPlace(code: number, handler: RequestHandler): void {
    this.handle(code, handler);
  }

  onChunkEnd(listener: () => void): void {
    this.#chunkEnds.push(listener);
  }

  get codes(): number[] {
    return [...this.#handlers.keys()].sort((a, b) => a - b);
  }

  /** The reply, with what was thrown turned into code 1 as the listener does. Fails when there is no reply. */
  async call(code: number, { ext, body, connection, version, language }: FakeCall = {}): Promise<Reply> {
    const handler = this.#handlers.get(code);
    if (handler === undefined) return { code: ResponseCode.REQUEST_CODE_NOT_SUPPORTED };
    const opaque = ++this.#opaque;
    const serialize = Serialize.JSON;
    const frame = encodeRequest({ code, opaque, ext, body, serialize, language, version: version ?? Version.current });
    const request = decodeCommand(frame, 4, frame.length);
    let reply: Reply | undefined;
    try {
      reply = await handler(request, connection ?? new FakeConnection());
    } catch (error) {
      reply = { code: ResponseCode.SYSTEM_ERROR, remark: messageOf(error) };
    }
    for (const listener of this.#chunkEnds) listener();
    if (reply === undefined) throw new Error(`request ${code} was not answered`);
    return reply;
  }
}

/** The bytes of a reply's body, empty when it has none. */
export function bodyOf(reply: Reply): Buffer {
  const { body } = reply;
  if (body === undefined) return Buffer.alloc(0);
  return body instanceof Uint8Array ? body : Buffer.concat(body);
}
