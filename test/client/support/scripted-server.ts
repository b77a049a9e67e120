import net from 'node:net';
import { CommandFlag } from '../../../protocol/codes.js';
import {
  decodeCommand,
  encodeRequest,
  encodeResponse,
  type ExtFields,
  type Request,
} from '../../../protocol/command.js';
import { FrameAssembler } from '../../../protocol/frame.js';

export interface ScriptedReply {
  readonly code: number;
  readonly remark?: string;
  readonly ext?: ExtFields;
  readonly body?: Buffer;
}

/** `silent`: never answered. `reset`: the connection is torn down. */
export type Scripted = ScriptedReply | 'silent' | 'reset';
export type Script = (request: Request, connection: ScriptedConnection) => Scripted | Promise<Scripted>;

export interface ScriptedConnection {
  readonly socket: net.Socket;
  /** Answers of the client to requests of the server, by opaque. */
  readonly answers: Map<number, Request>;
}

/** A TCP server in this process that answers each request code as told, and remembers what it was asked. */
export class ScriptedServer {
  readonly requests: Request[] = [];
  readonly connections = new Set<ScriptedConnection>();
  readonly #scripts = new Map<number, Script>();
  readonly #server: net.Server;
  #opaque = 0;

  private constructor(server: net.Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async listen(port = 0): Promise<ScriptedServer> {
    const server = net.createServer({ noDelay: true });
    const scripted = new ScriptedServer(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    return scripted;
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Replaces what the code was answered with. */
  on(code: number, script: Script | Scripted): this {
    this.#scripts.set(code, typeof script === 'function' ? script : () => script);
    return this;
  }

  script(code: number): Script | undefined {
    return this.#scripts.get(code);
  }

  asked(code: number): Request[] {
    return this.requests.filter((request) => request.code === code);
  }

  /** Sends a request to every client; returns its opaque. */
  push(code: number, ext: ExtFields, oneway: boolean, body?: Buffer): number {
    const opaque = ++this.#opaque;
    for (const { socket } of this.connections) socket.write(encodeRequest({ code, opaque, ext, oneway, body }));
    return opaque;
  }

  /** What a client answered to the request with that opaque. */
  answer(opaque: number): Request | undefined {
    for (const { answers } of this.connections) if (answers.has(opaque)) return answers.get(opaque);
    return undefined;
  }

  resetAll(): void {
    for (const { socket } of this.connections) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: net.Socket): void {
    const connection = { socket, answers: new Map<number, Request>() };
    const frames = new FrameAssembler();
    this.connections.add(connection);
    socket.on('error', () => undefined);
    socket.on('close', () => this.connections.delete(connection));
    socket.on('data', (chunk) =>
      frames.push(chunk, (buffer, start, end) => void this.#answer(decodeCommand(buffer, start, end), connection)),
    );
  }

  async #answer(request: Request, connection: ScriptedConnection): Promise<void> {
    if ((request.flag & CommandFlag.RESPONSE) !== 0) return void connection.answers.set(request.opaque, request);
    this.requests.push(request);
    const script = this.#scripts.get(request.code);
    const reply = script === undefined ? { code: 3, remark: 'not scripted' } : await script(request, connection);
    if (reply === 'reset') connection.socket.resetAndDestroy();
    else if (reply !== 'silent' && !request.oneway && connection.socket.writable)
      connection.socket.write(encodeResponse(request, reply));
  }
}
