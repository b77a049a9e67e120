import net from 'node:net';

const READ_BYTES = 256 * 1024;
const FRAME_BYTES_MAX = 16 * 1024 * 1024;

export interface FrameSink {
  /** One whole frame; `start` is where its length word stands. The bytes are reused after the call. */
  frame(buffer: Buffer, start: number, end: number): void;
  /** All whole frames of one read were handed over. */
  chunkEnd(): void;
  failed(error: Error): void;
}

/** All sockets of the thread read into it, one after the other: what was read is used before the next read begins. */
const chunk = Buffer.allocUnsafeSlow(READ_BYTES);

/** One connection that reads into the reused buffer: no allocation per read, none per frame. */
export class LoadSocket {
  readonly #socket: net.Socket;
  readonly #sink: FrameSink;
  #carry = Buffer.alloc(0);
  #carried = 0;
  #closed = false;

  private constructor(host: string, port: number, sink: FrameSink) {
    this.#sink = sink;
    const callback = (bytes: number): boolean => {
      this.#read(chunk, bytes);
      return true;
    };
    this.#socket = net.connect({ host, port, noDelay: true, onread: { buffer: chunk, callback } });
  }

  static async open(host: string, port: number, sink: FrameSink): Promise<LoadSocket> {
    const opened = new LoadSocket(host, port, sink);
    const socket = opened.#socket;
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error) =>
        reject(new Error(`cannot connect to ${host}:${port} (${error.message})`, { cause: error })),
      );
    });
    socket.removeAllListeners('error');
    socket.on('error', (error) => opened.#fail(error));
    socket.on('close', () => opened.#fail(new Error(`${host}:${port} closed the connection`)));
    return opened;
  }

  /** False when the kernel does not take more for now: `onDrained` tells when it does. */
  write(bytes: Buffer): boolean {
    return !this.#closed && this.#socket.write(bytes);
  }

  /** Calls back each time when all that waited has left. */
  onDrained(drained: () => void): void {
    this.#socket.on('drain', drained);
  }

  /** Bytes that wait in this process. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  close(): void {
    this.#closed = true;
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.destroy();
    this.#sink.failed(error);
  }

  #read(buffer: Buffer, bytes: number): void {
    try {
      this.#split(buffer, bytes);
      this.#sink.chunkEnd();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #split(buffer: Buffer, bytes: number): void {
    let at = this.#carried === 0 ? 0 : this.#finishCarried(buffer, bytes);
    while (bytes - at >= 4) {
      const end = at + 4 + lengthAt(buffer, at);
      if (end > bytes) break;
      this.#sink.frame(buffer, at, end);
      at = end;
    }
    if (at < bytes) this.#keep(buffer, at, bytes);
  }

  /** Completes the frame that the last read began; returns how far the new bytes were used for it. */
  #finishCarried(buffer: Buffer, bytes: number): number {
    let used = 0;
    if (this.#carried < 4) {
      used = Math.min(4 - this.#carried, bytes);
      this.#keep(buffer, 0, used);
      if (this.#carried < 4) return used;
    }
    const total = 4 + lengthAt(this.#carry, 0);
    const rest = Math.min(total - this.#carried, bytes - used);
    this.#keep(buffer, used, used + rest);
    if (this.#carried < total) return used + rest;
    this.#carried = 0;
    this.#sink.frame(this.#carry, 0, total);
    return used + rest;
  }

  #keep(buffer: Buffer, from: number, to: number): void {
    const wanted = this.#carried + to - from;
    if (wanted > this.#carry.length) {
      const grown = Buffer.allocUnsafe(Math.max(wanted, this.#carry.length * 2, 4096));
      this.#carry.copy(grown, 0, 0, this.#carried);
      this.#carry = grown;
    }
    buffer.copy(this.#carry, this.#carried, from, to);
    this.#carried = wanted;
  }
}

function lengthAt(buffer: Buffer, at: number): number {
  const length = buffer.readInt32BE(at);
  if (length < 4 || length > FRAME_BYTES_MAX) throw new Error(`answer of ${length} bytes: not this protocol`);
  return length;
}
