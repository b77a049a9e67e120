import assert from 'node:assert/strict';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { Connections } from '../../../plugins/remoting/contract.js';
import { PullSysFlag, RequestCode } from '../../../protocol/codes.js';
import { encodeRequest, Serialize } from '../../../protocol/command.js';
import { crc32 } from '../../../protocol/message/crc.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import type { StoredMessage } from '../../../protocol/message/record.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pullAsk, pulledOf, sendAsk } from '../../support/send-pull.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const MESSAGES = 20_000;
const CONNECTIONS = 32;
const QUEUES = 4;
const BODY_BYTES_MAX = 65_536;

interface Plan {
  /** Bytes of the message's frame, and whether its connection ends in the middle of it. */
  readonly frame: Buffer;
  readonly marker: string;
  readonly cutAt: number;
}

/** Small bodies are common, large ones come, too: each power of two is equally likely. */
function plan(number: number, random: SeededRandom): Plan {
  const bodyBytes = Math.floor(2 ** (random.next() * Math.log2(BODY_BYTES_MAX)));
  const marker = Buffer.alloc(8);
  marker.writeDoubleBE(number + Math.PI);
  const body = Buffer.alloc(bodyBytes, marker);
  const text = marker.toString('hex');
  const { code, ask } = sendAsk({
    queueId: number % QUEUES,
    body,
    properties: propertyText({ marker: text, crc: String(crc32(body)) }),
    serialize: number % 3 === 0 ? Serialize.ROCKETMQ : Serialize.JSON,
  });
  const frame = encodeRequest({ code, opaque: number, ...ask });
  const cutAt = random.chance(0.006) ? 1 + random.below(frame.length - 1) : -1;
  return { frame, marker: text, cutAt };
}

/** One producer: writes in bursts, several frames together or a frame in pieces, and loses its connection now and then. */
class Producer {
  readonly answered = new Set<string>();
  readonly cut: string[] = [];
  readonly #byOpaque = new Map<number, string>();

  constructor(
    private readonly broker: TestBroker,
    private readonly numbers: readonly number[],
    private readonly random: SeededRandom,
  ) {}

  async run(): Promise<void> {
    let client = await this.broker.connect();
    for (let next = 0; next < this.numbers.length;) {
      const burst: Buffer[] = [];
      const last = Math.min(this.numbers.length, next + 1 + this.random.below(20));
      let cutAt = -1;
      for (; next < last && cutAt < 0; next++) {
        const planned = plan(this.numbers[next], this.random);
        cutAt = planned.cutAt;
        if (cutAt >= 0) this.cut.push(planned.marker);
        else this.#byOpaque.set(this.numbers[next], planned.marker);
        burst.push(cutAt < 0 ? planned.frame : planned.frame.subarray(0, cutAt));
      }
      const cutFrame = cutAt < 0 ? Buffer.alloc(0) : burst.pop()!;
      await this.#write(client, Buffer.concat(burst));
      if (cutAt < 0) continue;
      // Sometimes the others of the burst are answered before the end, sometimes they are lost with it.
      if (this.random.chance(0.7)) await client.ask(RequestCode.GET_MAX_OFFSET, { ext: { topic: 'T', queueId: '0' } });
      await this.#write(client, cutFrame);
      client.reset();
      await client.closed;
      this.#take(client);
      client = await this.broker.connect();
    }
    await client.ask(RequestCode.GET_MAX_OFFSET, { ext: { topic: 'T', queueId: '0' } });
    this.#take(client);
    client[Symbol.dispose]();
  }

  #take(client: RawClient): void {
    for (const { opaque, code } of client.strays.splice(0)) {
      assert.equal(code, 0);
      this.answered.add(this.#byOpaque.get(opaque) ?? assert.fail(`answer to ${opaque}, which was not sent whole`));
    }
  }

  /** In one piece or in two; waits while the socket is full. */
  async #write(client: RawClient, bytes: Buffer): Promise<void> {
    const at = this.random.chance(0.3) ? this.random.below(bytes.length) : bytes.length;
    for (const piece of [bytes.subarray(0, at), bytes.subarray(at)])
      await new Promise<void>((resolve) => {
        client.socket.write(piece, () => setImmediate(resolve));
        if (client.isClosed) resolve();
      });
  }
}

/** One consumer of one queue, with long pulls; ends when told how much there is. */
async function consume(broker: TestBroker, queueId: number, end: () => number): Promise<StoredMessage[]> {
  using client = await broker.connect();
  const found: StoredMessage[] = [];
  const sysFlag = PullSysFlag.SUBSCRIPTION | PullSysFlag.SUSPEND;
  while (found.length < end()) {
    const wish = { queueId, queueOffset: found.length, sysFlag, suspendTimeoutMillis: 100, maxMsgNums: 32 };
    const serialize = found.length % 2 === 0 ? Serialize.JSON : Serialize.ROCKETMQ;
    const { messages } = pulledOf(await client.ask(RequestCode.PULL_MESSAGE, pullAsk({ ...wish, serialize })));
    found.push(...messages);
  }
  return found;
}

function check({ body, bodyCrc, properties, queueOffset }: StoredMessage, expectedOffset: number): string {
  assert.equal(queueOffset, expectedOffset);
  const found = parseProperties(properties);
  const marker = found.get('marker') ?? assert.fail('a message without marker');
  assert.equal(crc32(body), Number(found.get('crc')), `body of ${marker}`);
  assert.equal(bodyCrc, Number(found.get('crc')));
  assert.ok(body.equals(Buffer.alloc(body.length, Buffer.from(marker, 'hex'))), `only its own marker in ${marker}`);
  return marker;
}

describe('bytes of many connections (B08)', () => {
  it(`stay apart: ${MESSAGES} messages of ${CONNECTIONS} connections that are reset at random`, async function () {
    this.timeout(60_000);
    using dir = tempDir();
    const options = { storePathRootDir: dir.path, mappedFileSizeCommitLog: 64 << 20, heldPullCheckIntervalMs: 50 };
    // The real threads: bytes go from the socket's chunk through shared memory to the writer.
    await using broker = await testBroker({ options, topology: dedicated });
    using first = await broker.connect();
    const seedFrame = sendAsk();
    await first.ask(seedFrame.code, { ...seedFrame.ask, body: Buffer.alloc(0), ext: { ...seedFrame.ask.ext, b: 'T' } });

    const seed = 20_240_817;
    const producers = Array.from({ length: CONNECTIONS }, (_, i) => {
      const numbers = Array.from({ length: MESSAGES / CONNECTIONS }, (_unused, j) => 1 + i + j * CONNECTIONS);
      return new Producer(broker, numbers, new SeededRandom(seed + i));
    });
    const ends = new Array<number>(QUEUES).fill(Infinity);
    const consumers = ends.map((_, queueId) => consume(broker, queueId, () => ends[queueId]));
    await Promise.all(producers.map((producer) => producer.run()));
    await until(() => broker.get(Connections).count === QUEUES + 1, 'all producers are gone');
    const { watermarks } = broker.get(StoreState);
    await until(() => watermarks.get(Watermark.dispatched) === watermarks.get(Watermark.appended), 'all is dispatched');
    for (let queueId = 0; queueId < QUEUES; queueId++) {
      const { ext } = await first.ask(RequestCode.GET_MAX_OFFSET, { ext: { topic: 'T', queueId: String(queueId) } });
      ends[queueId] = Number(ext['offset']);
    }
    const markers = new Set<string>();
    for (const messages of await Promise.all(consumers))
      messages.forEach((message, i) => {
        if (message.body.length === 0) return;
        const marker = check(message, i);
        assert.ok(!markers.has(marker), `${marker} is stored once`);
        markers.add(marker);
      });
    const answered = producers.flatMap((producer) => [...producer.answered]);
    const cut = producers.flatMap((producer) => producer.cut);
    assert.deepEqual(
      answered.filter((marker) => !markers.has(marker)),
      [],
      'all that was answered is stored',
    );
    assert.deepEqual(
      cut.filter((marker) => markers.has(marker)),
      [],
      'nothing that was cut is',
    );
    assert.ok(
      cut.length > 50 && answered.length > MESSAGES * 0.8,
      `seed ${seed}: ${cut.length} cut, ${answered.length} answered`,
    );
  });
});
