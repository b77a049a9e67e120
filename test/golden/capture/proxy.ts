/**
 * Records what real clients, brokers and name servers say to each other: one sample per way, code, answer and header form.
 * README.md beside the tables tells how the programs are run through it.
 *
 *   node dist/test/golden/capture/proxy.js OUT.json BROKER_PORT BROKER_PROXY_PORT NAMESRV_PORT NAMESRV_PROXY_PORT
 *
 * The two broker ports need the same number of digits: the name server's answers are rewritten in place, so that clients find the
 * broker behind the proxy.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { decodeCommand, Serialize } from '../../../protocol/command.js';
import { FrameAssembler } from '../../../protocol/frame.js';
import type { CapturedFrame } from '../load.js';

const SAMPLE_BYTES_MAX = 6000;

/** Keeps the first sample of each sort. */
export class Recorder {
  private readonly samples = new Map<string, CapturedFrame>();

  constructor(known: readonly CapturedFrame[] = []) {
    for (const frame of known) this.samples.set(sortOf(frame), frame);
  }

  add(frame: CapturedFrame): void {
    if (frame.hex.length > SAMPLE_BYTES_MAX * 2) return;
    const sort = sortOf(frame);
    if (!this.samples.has(sort)) this.samples.set(sort, frame);
  }

  frames(): CapturedFrame[] {
    return [...this.samples.values()].sort((a, b) => (sortOf(a) < sortOf(b) ? -1 : 1));
  }
}

function sortOf({ way, kind, code, answered, serialize }: CapturedFrame): string {
  return [String(code).padStart(3, '0'), kind === 'request' ? 'a' : 'b', way, serialize, answered ?? ''].join(' ');
}

/** One direction of a connection; both directions of it share the tables of open requests. */
class Tap {
  private readonly assembler = new FrameAssembler();

  constructor(
    private readonly way: string,
    private readonly recorder: Recorder,
    /** Requests sent this way and the other way, by opaque. */
    private readonly mine: Map<number, number>,
    private readonly theirs: Map<number, number>,
  ) {}

  push(chunk: Buffer): void {
    this.assembler.push(Buffer.from(chunk), (buffer, start, end) => {
      const { code, opaque, isResponse, serialize } = decodeCommand(buffer, start, end);
      const form = serialize === Serialize.JSON ? 'JSON' : 'ROCKETMQ';
      const hex = buffer.toString('hex', start - 4, end);
      if (!isResponse) {
        this.mine.set(opaque, code);
        this.recorder.add({ way: this.way, kind: 'request', code, serialize: form, hex });
        return;
      }
      const asked = this.theirs.get(opaque);
      if (asked === undefined) return;
      this.theirs.delete(opaque);
      this.recorder.add({ way: this.way, kind: 'answer', code: asked, answered: code, serialize: form, hex });
    });
  }
}

export interface ProxyOptions {
  readonly listenPort: number;
  readonly targetPort: number;
  /** `broker` or `namesrv`. */
  readonly name: string;
  /** Replaced in what the target says; both of the same length. */
  readonly rewrite?: readonly [from: string, to: string];
}

export function startProxy(options: ProxyOptions, recorder: Recorder): Server {
  const server = createServer((near) => {
    const far = connect(options.targetPort, '127.0.0.1');
    const requests = [new Map<number, number>(), new Map<number, number>()] as const;
    pipe(near, far, new Tap(`peer>${options.name}`, recorder, requests[0], requests[1]));
    pipe(far, near, new Tap(`${options.name}>peer`, recorder, requests[1], requests[0]), options.rewrite);
  });
  return server.listen(options.listenPort, '127.0.0.1');
}

function pipe(from: Socket, to: Socket, tap: Tap, rewrite?: readonly [string, string]): void {
  from.on('data', (chunk: Buffer) => {
    tap.push(chunk);
    to.write(rewrite === undefined ? chunk : replaced(chunk, rewrite));
  });
  from.on('close', () => to.destroy());
  from.on('error', () => to.destroy());
}

function replaced(chunk: Buffer, [was, becomes]: readonly [string, string]): Buffer {
  return Buffer.from(chunk.toString('latin1').replaceAll(was, becomes), 'latin1');
}

function main([out, broker, brokerProxy, namesrv, namesrvProxy]: string[]): void {
  if (out === undefined || namesrvProxy === undefined) throw new Error('usage: proxy.js OUT.json and four ports');
  const known = existsSync(out) ? (JSON.parse(readFileSync(out, 'utf8')) as CapturedFrame[]) : [];
  const recorder = new Recorder(known);
  const rewrite = [`:${broker}`, `:${brokerProxy}`] as const;
  startProxy({ listenPort: Number(brokerProxy), targetPort: Number(broker), name: 'broker' }, recorder);
  startProxy({ listenPort: Number(namesrvProxy), targetPort: Number(namesrv), name: 'namesrv', rewrite }, recorder);
  const save = (): void => {
    const rows = recorder.frames().map((frame) => JSON.stringify(frame));
    writeFileSync(out, `[\n${rows.join(',\n')}\n]\n`);
    process.exit(0);
  };
  process.on('SIGTERM', save);
  process.on('SIGINT', save);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  main(process.argv.slice(2));
