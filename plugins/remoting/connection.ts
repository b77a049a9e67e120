import type { Socket } from 'node:net';
import {
  encodeRequest,
  encodeResponse,
  encodeResponseHeader,
  type ExtFields,
  type Request,
} from '../../protocol/command.js';
import { addressBytes } from '../../protocol/message/host.js';
import { FrameAssembler, type FrameBudget } from '../../protocol/frame.js';
import type { Connection, PeerResponse, Reply } from './contract.js';
import { PeerCalls } from './peer-calls.js';
import { plainHost } from './peer-host.js';

/** Answers are gathered in slabs; the first is small, a busy connection gets larger ones, a silent one gives its back. */
const SLAB_BYTES_MIN = 8 * 1024;
const SLAB_BYTES_MAX = 256 * 1024;
/** So much is not kept until the turn ends: the peer reads it while what follows is put together. Fewer bytes cost more than they gain. */
const WRITE_BYTES = 64 * 1024;
/** A slab with less room than this is left behind after a write. */
const SLAB_REST_MIN = 4096;

/** What a connection needs of its server. */
export interface ConnectionHost {
  readonly budget: FrameBudget;
  readonly outboundBytesMax: number;
  /** Asks for `flush` at the end of the present turn. */
  wantFlush(connection: SocketConnection): void;
  closing(connection: SocketConnection, reason: string): void;
}

export class SocketConnection implements Connection {
  readonly remoteHost: string;
  readonly remotePort: number;
  readonly remote: string;
  readonly remoteAddress: Buffer;
  readonly assembler: FrameAssembler;
  readonly calls = new PeerCalls();
  lastReadMonoMs: number;
  lastWriteMonoMs: number;
  /** When the unfinished frame began; 0 while there is none. */
  partialSinceMonoMs = 0;
  closed = false;
  #slab: Buffer = Buffer.alloc(0);
  #slabStart = 0;
  #slabEnd = 0;
  #slabBytes = SLAB_BYTES_MIN;
  #queue: Buffer[] = [];
  /** Bytes written to slabs since the last write to the socket. */
  #unwritten = 0;
  #flushWanted = false;
  #pauses = 0;

  constructor(
    readonly id: number,
    readonly socket: Socket,
    private readonly host: ConnectionHost,
    nowMonoMs: number,
  ) {
    this.remoteHost = plainHost(socket.remoteAddress ?? '0.0.0.0');
    this.remotePort = socket.remotePort ?? 0;
    this.remote = `${this.remoteHost}:${this.remotePort}`;
    this.remoteAddress = addressBytes(this.remoteHost);
    this.assembler = new FrameAssembler(host.budget);
    this.lastReadMonoMs = nowMonoMs;
    this.lastWriteMonoMs = nowMonoMs;
  }

  get backlogBytes(): number {
    return this.socket.writableLength;
  }

  get outbound(): Buffer {
    return this.#slab;
  }

  reserve(bytesMax: number): number {
    if (this.#slab.length - this.#slabEnd < bytesMax) {
      this.#sealSlab();
      this.#slab = Buffer.allocUnsafeSlow(Math.max(this.#slabBytes, bytesMax));
      this.#slabBytes = Math.min(this.#slabBytes * 2, SLAB_BYTES_MAX);
      this.#slabStart = this.#slabEnd = 0;
    }
    return this.#slabEnd;
  }

  written(end: number): void {
    this.#unwritten += end - this.#slabEnd;
    this.#slabEnd = end;
    this.#wantFlush();
    if (this.#unwritten >= WRITE_BYTES) this.#write();
  }

  reply(request: Pick<Request, 'opaque' | 'serialize' | 'oneway'>, reply: Reply): void {
    if (request.oneway || this.closed) return;
    const { body } = reply;
    if (body === undefined) {
      this.#push(encodeResponse(request, { code: reply.code, remark: reply.remark, ext: reply.ext }));
      return;
    }
    const parts = Buffer.isBuffer(body) ? [body] : body;
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    this.#push(encodeResponseHeader(request, reply, bytes));
    for (const part of parts) if (part.length > 0) this.#push(part);
  }

  notify(code: number, ext: ExtFields, body?: Buffer): void {
    if (this.closed) return;
    this.#push(encodeRequest({ code, opaque: this.calls.nextOpaque(), oneway: true, ext, body }));
  }

  call(code: number, ext: ExtFields, body: Buffer | undefined, timeoutMs: number): Promise<PeerResponse> {
    const opaque = this.calls.nextOpaque();
    const answer = this.calls.wait(opaque, this.remote, timeoutMs);
    if (this.closed) this.calls.abandon(this.remote);
    else this.#push(encodeRequest({ code, opaque, ext, body }));
    return answer;
  }

  pause(): void {
    if (this.#pauses++ === 0) this.socket.pause();
  }

  resume(): void {
    if (--this.#pauses === 0 && !this.closed) this.socket.resume();
  }

  close(reason: string): void {
    if (this.closed) return;
    this.flush(this.lastWriteMonoMs);
    this.host.closing(this, reason);
    this.socket.destroySoon();
  }

  /** One socket write for what was answered in this turn, or for the rest of it. */
  flush(nowMonoMs: number): void {
    this.#flushWanted = false;
    this.lastWriteMonoMs = nowMonoMs;
    this.#write();
  }

  /** Nothing was written for a while: the slab need not be kept. */
  releaseSlab(): void {
    if (this.#slabStart === this.#slabEnd) {
      this.#slab = Buffer.alloc(0);
      this.#slabStart = this.#slabEnd = 0;
      this.#slabBytes = SLAB_BYTES_MIN;
    }
  }

  #write(): void {
    this.#sealSlab();
    const queue = this.#queue;
    if (queue.length === 0 || this.closed) return;
    this.#queue = [];
    this.#unwritten = 0;
    if (queue.length === 1) this.socket.write(queue[0]);
    else {
      this.socket.cork();
      for (const part of queue) this.socket.write(part);
      this.socket.uncork();
    }
    this.#reuseSlab();
    if (this.socket.writableLength > this.host.outboundBytesMax) {
      this.host.closing(this, `it does not read: ${this.socket.writableLength} bytes wait for it (outboundBytesMax)`);
      this.socket.destroy();
    }
  }

  #push(part: Buffer): void {
    this.#sealSlab();
    this.#queue.push(part);
    this.#wantFlush();
  }

  #wantFlush(): void {
    if (this.#flushWanted) return;
    this.#flushWanted = true;
    this.host.wantFlush(this);
  }

  /** Moves what stands in the slab to the queue, so that frames leave in the order in which they were answered. */
  #sealSlab(): void {
    if (this.#slabEnd === this.#slabStart) return;
    this.#queue.push(this.#slab.subarray(this.#slabStart, this.#slabEnd));
    this.#slabStart = this.#slabEnd;
  }

  /** Once the kernel has taken everything the memory is free again; else the slab is used up first, since it is still read. */
  #reuseSlab(): void {
    if (this.socket.writableLength === 0) this.#slabStart = this.#slabEnd = 0;
    else if (this.#slab.length - this.#slabEnd < SLAB_REST_MIN) {
      this.#slab = Buffer.alloc(0);
      this.#slabStart = this.#slabEnd = 0;
    }
  }
}
