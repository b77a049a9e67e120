import { connect, type Socket } from 'node:net';
import { KernelError, messageOf } from '../../kernel/base/errors.js';
import { decodeCommand, encodeRequest, type ExtFields } from '../../protocol/command.js';
import { FrameAssembler } from '../../protocol/frame.js';
import type { NamesrvAddress } from './addresses.js';

/** What a name server answered; `body` is a copy. */
export interface NamesrvAnswer {
  readonly code: number;
  readonly remark: string | null;
  readonly ext: ExtFields;
  readonly body: Buffer;
}

interface Waiting {
  readonly resolve: (answer: NamesrvAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * One kept connection to a name server, opened by the first call. It must stay open: its end unregisters the broker. A call that
 * times out closes it, since an answer that comes later could not be told from the next one's.
 */
export class NamesrvClient {
  readonly #connectTimeoutMs: number;
  readonly #onLost: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #socket: Socket | undefined;
  #opening: { readonly socket: Socket; readonly done: Promise<Socket> } | undefined;
  #opaque = 0;

  /** `onLost` is called when an open connection ends without `close`. */
  constructor(connectTimeoutMs: number, onLost: () => void) {
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#onLost = onLost;
  }

  get connected(): boolean {
    return this.#socket !== undefined;
  }

  /** Rejects with KernelError when there is no connection, no answer in time, or the connection ends meanwhile. */
  async call(
    address: NamesrvAddress,
    code: number,
    ext: ExtFields,
    body: Buffer | undefined,
    timeoutMs: number,
  ): Promise<NamesrvAnswer> {
    const socket = this.#socket ?? (await (this.#opening ??= this.#open(address)).done);
    return new Promise((resolve, reject) => {
      const opaque = (this.#opaque = (this.#opaque + 1) & 0x7fffffff);
      const giveUp = (): void => {
        if (!this.#waiting.has(opaque)) return;
        this.#fail(socket, new KernelError('NAMESRV_TIMEOUT', `no answer to request ${code} within ${timeoutMs} ms`));
        socket.destroy();
      };
      // After a pause of the whole process the answer may be there unread: sockets are read before immediates run.
      const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
      this.#waiting.set(opaque, { resolve, reject, timer });
      socket.write(encodeRequest({ code, opaque, ext, body }));
    });
  }

  /** Ends the connection, or the try to make one; calls that wait are rejected. */
  close(): void {
    this.#opening?.socket.destroy();
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined) return;
    this.#fail(socket, new KernelError('NAMESRV_CLOSED', 'the connection was closed'));
    socket.destroy();
  }

  #open(address: NamesrvAddress): { readonly socket: Socket; readonly done: Promise<Socket> } {
    const socket = connect({ host: address.host, port: address.port, noDelay: true });
    const done = new Promise<Socket>((resolve, reject) => {
      const timer = setTimeout(() => {
        socket.destroy(new Error(`no connection within ${this.#connectTimeoutMs} ms`));
      }, this.#connectTimeoutMs);
      let problem = 'the connection ended';
      socket.on('error', (error) => (problem = messageOf(error)));
      socket.once('connect', () => {
        clearTimeout(timer);
        this.#opening = undefined;
        this.#socket = socket;
        this.#read(socket);
        resolve(socket);
      });
      socket.once('close', () => {
        clearTimeout(timer);
        this.#opening = undefined;
        const error = new KernelError('NAMESRV_LOST', problem);
        reject(error);
        this.#lost(socket, error);
      });
    });
    return { socket, done };
  }

  #read(socket: Socket): void {
    const assembler = new FrameAssembler();
    socket.on('data', (chunk: Buffer) => {
      try {
        assembler.push(chunk, (buffer, start, end) => this.#answered(buffer, start, end));
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(messageOf(error)));
      }
    });
  }

  #answered(buffer: Buffer, start: number, end: number): void {
    const command = decodeCommand(buffer, start, end);
    const waiting = command.isResponse ? this.#waiting.get(command.opaque) : undefined;
    if (waiting === undefined) return;
    this.#waiting.delete(command.opaque);
    clearTimeout(waiting.timer);
    const { code, remark, ext, body } = command;
    waiting.resolve({ code, remark, ext, body: Buffer.from(body) });
  }

  #lost(socket: Socket, error: KernelError): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#fail(socket, error);
    this.#onLost();
  }

  /** Every call waits on the one socket there is. */
  #fail(socket: Socket, error: KernelError): void {
    if (this.#socket !== undefined && this.#socket !== socket) return;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
  }
}
