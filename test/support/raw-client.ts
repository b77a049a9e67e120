import { connect, type Socket } from 'node:net';
import {
  decodeCommand,
  encodeRequest,
  encodeResponse,
  Serialize,
  type ExtFields,
  type ResponseFields,
} from '../../protocol/command.js';
import { FrameAssembler } from '../../protocol/frame.js';
import { withLimit } from '../../kernel/threads/with-limit.js';

/** What came back for one request. */
export interface Answer {
  readonly code: number;
  readonly remark: string | null;
  readonly ext: ExtFields;
  readonly body: Buffer;
  readonly serialize: Serialize;
  readonly opaque: number;
  readonly oneway: boolean;
}

export interface Ask {
  readonly ext?: ExtFields;
  readonly body?: Buffer;
  readonly serialize?: Serialize;
  readonly version?: number;
  readonly language?: number;
}

const ANSWER_LIMIT_MS = 10_000;

/** Speaks frames to a port and nothing else: no heartbeats, no retries, no routes. `using` closes it. */
export class RawClient implements Disposable {
  readonly socket: Socket;
  /** What the server asked or told by itself. */
  readonly requests: Answer[] = [];
  /** Hears what the server asks and tells, and answers what it asks; silent while undefined. */
  respond: ((request: Answer) => (ResponseFields & { readonly body?: Buffer }) | undefined) | undefined;
  /** Answers that no request of this client waits for, such as answers to one-way requests. */
  readonly strays: Answer[] = [];
  readonly closed: Promise<void>;
  isClosed = false;
  /** Bytes received so far. */
  bytesRead = 0;
  readonly #waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  readonly #assembler = new FrameAssembler();
  #opaque = 0;

  /** `address` is `host:port`. */
  static connect(address: string): Promise<RawClient> {
    const colon = address.lastIndexOf(':');
    const socket = connect({ port: Number(address.slice(colon + 1)), host: address.slice(0, colon), noDelay: true });
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.removeListener('error', reject);
        resolve(new RawClient(socket));
      });
    });
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        for (const { reject } of this.#waiting.values()) reject(new Error('the server closed the connection'));
        this.#waiting.clear();
        resolve();
      });
    });
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.bytesRead += chunk.length;
      this.#assembler.push(chunk, (buffer, start, end) => this.#frame(buffer, start, end));
    });
  }

  get localPort(): number {
    return this.socket.localPort ?? 0;
  }

  /** The frame of a request and its answer, for those who write several at once. */
  prepare(code: number, ask: Ask = {}): { readonly frame: Buffer; readonly answer: Promise<Answer> } {
    const opaque = ++this.#opaque;
    const frame = encodeRequest({ code, opaque, ...ask });
    const answer = new Promise<Answer>((resolve, reject) => this.#waiting.set(opaque, { resolve, reject }));
    // A test that writes and never looks at the answer must not end the process when the connection ends.
    answer.catch(() => undefined);
    return { frame, answer };
  }

  /** Sends and waits for the answer; fails when the connection ends or nothing comes within 10 s. */
  async ask(code: number, ask: Ask = {}): Promise<Answer> {
    const { frame, answer } = this.prepare(code, ask);
    this.socket.write(frame);
    return withLimit(answer, ANSWER_LIMIT_MS, (ms) => new Error(`request ${code} was not answered within ${ms} ms`));
  }

  /** Sends a one-way request; returns its opaque. */
  tell(code: number, ask: Ask = {}): number {
    const opaque = ++this.#opaque;
    this.socket.write(encodeRequest({ code, opaque, oneway: true, ...ask }));
    return opaque;
  }

  write(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Ends the connection with a reset, as a process that dies does. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #frame(buffer: Buffer, start: number, end: number): void {
    const command = decodeCommand(buffer, start, end);
    const { code, remark, ext, serialize, opaque, oneway } = command;
    const answer = { code, remark, ext, body: Buffer.from(command.body), serialize, opaque, oneway };
    if (!command.isResponse) {
      this.requests.push(answer);
      const response = this.respond?.(answer);
      if (response !== undefined && !oneway) this.socket.write(encodeResponse(command, response));
      return;
    }
    const waiting = this.#waiting.get(opaque);
    if (waiting === undefined) {
      this.strays.push(answer);
      return;
    }
    this.#waiting.delete(opaque);
    waiting.resolve(answer);
  }
}
