import net from 'node:net';
import { encodeTopicRouteData } from '../../../protocol/bodies/route.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { decodeCommand, encodeResponse, type Request } from '../../../protocol/command.js';
import { FrameAssembler } from '../../../protocol/frame.js';
import { ScriptedServer, type Scripted } from '../../client/support/scripted-server.js';

/** `pass`: the broker answers. */
export type ProxyScript = (request: Request) => Scripted | 'pass';

/**
 * Stands between a client and a broker: passes requests on, or answers them itself, or not at all, by their code. A name server
 * of its own leads clients here.
 */
export class ScriptedProxy {
  readonly requests: Request[] = [];
  readonly #scripts = new Map<number, ProxyScript>();
  readonly #sockets = new Set<net.Socket>();

  private constructor(
    private readonly brokerPort: number,
    private readonly server: net.Server,
    private readonly nameServer: ScriptedServer,
  ) {
    server.on('connection', (socket) => this.#serve(socket));
  }

  /** `topics`: queues by name, of a broker `broker-a`. */
  static async start(brokerPort: number, topics: Readonly<Record<string, number>>): Promise<ScriptedProxy> {
    const server = net.createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as net.AddressInfo;
    const nameServer = await ScriptedServer.listen();
    nameServer.on(RequestCode.GET_ROUTEINFO_BY_TOPIC, ({ ext }) => routeOf(ext['topic']!, topics, port));
    return new ScriptedProxy(brokerPort, server, nameServer);
  }

  get namesrv(): string {
    return this.nameServer.address;
  }

  /** From now on requests with this code are answered so. */
  on(code: number, script: ProxyScript | Scripted | 'pass'): this {
    this.#scripts.set(code, typeof script === 'function' ? script : () => script);
    return this;
  }

  asked(code: number): Request[] {
    return this.requests.filter((request) => request.code === code);
  }

  /** Nothing goes through any more, in either direction: to the broker it is as if the client was killed. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([closed, this.nameServer.close()]);
  }

  #serve(client: net.Socket): void {
    const broker = net.connect(this.brokerPort, '127.0.0.1');
    for (const [from, to] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    const requests = new FrameAssembler();
    client.on('data', (chunk) =>
      requests.push(chunk, (buffer, start, end) => {
        const request = decodeCommand(buffer, start, end);
        this.requests.push(request);
        const reply = this.#scripts.get(request.code)?.(request) ?? 'pass';
        if (reply === 'pass') broker.write(framed(buffer, start, end));
        else if (reply === 'reset') client.resetAndDestroy();
        else if (reply !== 'silent' && !request.oneway) client.write(encodeResponse(request, reply));
      }),
    );
    // Whole frames, so that an answer of the proxy stands between two of them.
    const answers = new FrameAssembler();
    broker.on('data', (chunk) =>
      answers.push(chunk, (buffer, start, end) => client.writable && client.write(framed(buffer, start, end))),
    );
  }
}

function framed(buffer: Buffer, start: number, end: number): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(end - start);
  return Buffer.concat([length, buffer.subarray(start, end)]);
}

function routeOf(topic: string, topics: Readonly<Record<string, number>>, port: number): Scripted {
  const queues = topics[topic];
  if (queues === undefined) return { code: ResponseCode.TOPIC_NOT_EXIST, remark: `no topic ${topic}` };
  const brokerName = 'broker-a';
  const body = encodeTopicRouteData(
    {
      queueDatas: [{ brokerName, readQueueNums: queues, writeQueueNums: queues, perm: 6, topicSysFlag: 0 }],
      brokerDatas: [{ cluster: 'C', brokerName, brokerAddrs: new Map([[0, `127.0.0.1:${port}`]]) }],
      filterServerTable: new Map(),
    },
    'standard',
  );
  return { code: ResponseCode.SUCCESS, body };
}
