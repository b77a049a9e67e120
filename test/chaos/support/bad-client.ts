import { connect, type Socket } from 'node:net';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeCommand, encodeRequest, ProtocolError, type Request } from '../../../protocol/command.js';
import { FrameAssembler } from '../../../protocol/frame.js';
import { until } from '../../support/until.js';
import { HOLD_FLAG, type BadFrame } from './bad-frames.js';

/** What a broker has to do within this time. */
const LIMIT_MS = 5000;
/** A code that no handler has: its answer shows that the connection lives and has got so far. */
const PROBE_CODE = 32_000;
const PROBE_OPAQUE_FROM = 0x40000000;

/** Sends one bad frame after the other on a connection that is made again whenever the broker closed it. */
export class BadClient {
  #socket: Socket | undefined;
  #closed = true;
  #assembler = new FrameAssembler();
  readonly #answered = new Set<number>();
  #probe = PROBE_OPAQUE_FROM;
  frames = 0;
  closes = 0;

  constructor(private readonly port: number) {}

  /** Fails when the broker neither answers nor closes. */
  async send(frame: BadFrame): Promise<void> {
    if (this.#closed) await this.#connect();
    this.frames++;
    this.#answered.clear();
    this.#socket!.write(frame.bytes);
    if (frame.expects === 'unfinished') this.#socket!.end();
    if (frame.expects === 'any') await this.#answeredOrClosed(frame);
    else await this.#until(() => this.#closed, frame, 'closed');
    if (this.#closed) this.closes++;
  }

  end(): void {
    this.#socket?.destroy();
  }

  async #answeredOrClosed(frame: BadFrame): Promise<void> {
    const probe = ++this.#probe;
    this.#socket!.write(encodeRequest({ code: PROBE_CODE, opaque: probe }));
    await this.#until(() => this.#closed || this.#answered.has(probe), frame, 'followed by an answer, or closed');
    const opaque = opaqueToAnswer(frame.bytes);
    if (opaque !== undefined) await this.#until(() => this.#closed || this.#answered.has(opaque), frame, 'answered');
  }

  async #until(condition: () => boolean, { what, bytes }: BadFrame, wish: string): Promise<void> {
    if (condition()) return;
    await until(condition, `the bad frame is ${wish}`, LIMIT_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${what}, ${bytes.length} bytes ${bytes.subarray(0, 600).toString('hex')}`);
    });
  }

  async #connect(): Promise<void> {
    const socket = connect({ host: '127.0.0.1', port: this.port, noDelay: true });
    this.#socket = socket;
    this.#closed = false;
    this.#assembler = new FrameAssembler();
    // A reset is one way to close.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket === socket) this.#closed = true;
    });
    socket.on('data', (chunk) => this.#assembler.push(chunk, (buffer, start, end) => this.#frame(buffer, start, end)));
    await until(() => this.#closed || socket.readyState === 'open', 'the broker accepts connections', LIMIT_MS);
    if (this.#closed) throw new Error('the broker refuses connections');
  }

  #frame(buffer: Buffer, start: number, end: number): void {
    const command = decodeCommand(buffer, start, end);
    if (command.isResponse) this.#answered.add(command.opaque);
  }
}

/** The opaque that an answer must carry, when the bytes are a request that wants one now. */
function opaqueToAnswer(frame: Buffer): number | undefined {
  let request: Request;
  try {
    request = decodeCommand(frame, 4, frame.length);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
  if (request.isResponse || request.oneway) return undefined;
  return mayBeHeld(request) ? undefined : request.opaque;
}

function mayBeHeld({ code, ext }: Request): boolean {
  return code === RequestCode.PULL_MESSAGE && (Number(ext['sysFlag']) & HOLD_FLAG) !== 0;
}
