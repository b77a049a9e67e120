import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { decodeCommand, encodeResponse, type Request } from '../../../protocol/command.js';
import { FrameAssembler } from '../../../protocol/frame.js';

type Answer = { readonly code: number; readonly ext?: Record<string, string>; readonly body?: Buffer };

/** A name server that does what a test says: `undefined` leaves the request without an answer. */
export class ScriptedNamesrv implements AsyncDisposable {
  readonly requests: Request[] = [];
  readonly sockets = new Set<Socket>();
  answer: (request: Request) => Answer | undefined = () => ({ code: 0, ext: {} });
  #server: Server | undefined;
  port = 0;

  static async listen(port = 0): Promise<ScriptedNamesrv> {
    const namesrv = new ScriptedNamesrv();
    await namesrv.listen(port);
    return namesrv;
  }

  get codes(): number[] {
    return this.requests.map(({ code }) => code);
  }

  async listen(port: number): Promise<void> {
    const server = createServer((socket) => this.#accept(socket));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  dropConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.dropConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #accept(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    const assembler = new FrameAssembler();
    socket.on('data', (chunk: Buffer) => {
      assembler.push(chunk, (buffer, start, end) => {
        const request = decodeCommand(buffer, start, end);
        this.requests.push(request);
        const answer = this.answer(request);
        if (answer !== undefined) socket.write(encodeResponse(request, answer));
      });
    });
  }
}
