import { ProtocolError } from './errors.js';
import { readInt32 } from './int64.js';

/** 4.9: NettyDecoder, `com.rocketmq.remoting.frameMaxLength`: the whole frame, its length word included. */
export const FRAME_BYTES_MAX = 16777216;
const LENGTH_BYTES = 4;
/** Pieces up to this size are copied together, so that a slow sender pins neither a whole socket read nor an object per few bytes. */
const SMALL_BYTES_MAX = 4096;
const BLOCK_BYTES_MIN = 512;
const BLOCK_BYTES_MAX = 65536;

/** Bounds the bytes that unfinished frames of all connections hold together. */
export class FrameBudget {
  private held = 0;

  constructor(readonly limitBytes: number) {}

  get heldBytes(): number {
    return this.held;
  }

  /** Throws ProtocolError when the bytes do not fit any more: the connection that asks ends, not the others. */
  take(bytes: number): void {
    if (this.held + bytes > this.limitBytes) {
      throw new ProtocolError(`unfinished frames of all connections would hold more than ${this.limitBytes} bytes`);
    }
    this.held += bytes;
  }

  give(bytes: number): void {
    this.held -= bytes;
  }
}

/**
 * Cuts one connection's bytes into frames. A frame that lies in one chunk is passed on in place; one that is spread over chunks
 * is joined when its last byte is there. Nothing of a chunk is used after the call.
 */
export class FrameAssembler {
  private parts: Buffer[] = [];
  /** Collects small pieces until it is full, then becomes a part. */
  private block: Buffer | undefined;
  private blockUsed = 0;
  private held = 0;
  /** Size of the unfinished frame with its length word; 0 while that is not known. */
  private wanted = 0;

  constructor(
    private readonly budget?: FrameBudget,
    private readonly frameBytesMax = FRAME_BYTES_MAX,
  ) {}

  /** Bytes of the unfinished frame. */
  get heldBytes(): number {
    return this.held;
  }

  /**
   * Calls `onFrame` for each frame that this chunk completes, with the range after the length word. Throws ProtocolError for an
   * impossible length, as soon as its four bytes are there; the connection is of no use then.
   */
  push(chunk: Buffer, onFrame: (buffer: Buffer, start: number, end: number) => void): void {
    let at = this.held === 0 ? 0 : this.complete(chunk, onFrame);
    while (at >= 0 && chunk.length - at >= LENGTH_BYTES) {
      const size = this.frameSize(readInt32(chunk, at));
      if (chunk.length - at < size) {
        this.wanted = size;
        break;
      }
      onFrame(chunk, at + LENGTH_BYTES, at + size);
      at += size;
    }
    if (at >= 0 && at < chunk.length) this.hold(chunk, at);
  }

  /** Forgets the unfinished frame; to be called when the connection ends. */
  release(): void {
    this.budget?.give(this.held);
    this.parts = [];
    this.block = undefined;
    this.held = 0;
    this.wanted = 0;
  }

  /** Adds to the held frame. Returns where in the chunk the next frame begins, or -1 when the held one is still unfinished. */
  private complete(chunk: Buffer, onFrame: (buffer: Buffer, start: number, end: number) => void): number {
    if (this.wanted === 0) {
      if (this.held + chunk.length < LENGTH_BYTES) {
        this.hold(chunk, 0);
        return -1;
      }
      this.wanted = this.frameSize(this.lengthAcross(chunk));
    }
    const missing = this.wanted - this.held;
    if (chunk.length < missing) {
      this.hold(chunk, 0);
      return -1;
    }
    this.closeBlock();
    this.parts.push(chunk);
    const frame = Buffer.concat(this.parts, this.wanted);
    this.release();
    onFrame(frame, LENGTH_BYTES, frame.length);
    return missing;
  }

  private hold(chunk: Buffer, from: number): void {
    const bytes = chunk.length - from;
    this.budget?.take(bytes);
    if (bytes > SMALL_BYTES_MAX) {
      this.closeBlock();
      this.parts.push(Buffer.from(chunk.subarray(from)));
    } else this.gather(chunk, from, bytes);
    this.held += bytes;
  }

  private gather(chunk: Buffer, from: number, bytes: number): void {
    if (this.block !== undefined && this.block.length - this.blockUsed < bytes) this.closeBlock();
    if (this.block === undefined) {
      const size = Math.min(BLOCK_BYTES_MAX, Math.max(BLOCK_BYTES_MIN, bytes, this.held));
      this.block = Buffer.allocUnsafeSlow(Math.max(size, bytes));
      this.blockUsed = 0;
    }
    chunk.copy(this.block, this.blockUsed, from);
    this.blockUsed += bytes;
  }

  private closeBlock(): void {
    if (this.block === undefined) return;
    this.parts.push(this.block.subarray(0, this.blockUsed));
    this.block = undefined;
  }

  private lengthAcross(chunk: Buffer): number {
    this.closeBlock();
    return Buffer.concat([...this.parts, chunk.subarray(0, LENGTH_BYTES)]).readInt32BE(0);
  }

  private frameSize(length: number): number {
    if (length < LENGTH_BYTES || length > this.frameBytesMax - LENGTH_BYTES) {
      throw new ProtocolError(
        `frame length ${length} is not between ${LENGTH_BYTES} and ${this.frameBytesMax - LENGTH_BYTES}`,
      );
    }
    return LENGTH_BYTES + length;
  }
}
