import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { PullSysFlag, RequestCode, ResponseCode } from '../../protocol/codes.js';
import { decodeCommand, encodeRequest } from '../../protocol/command.js';
import { FrameAssembler } from '../../protocol/frame.js';
import { encodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { crc32 } from '../../protocol/message/crc.js';
import { propertyOf } from '../../protocol/message/properties.js';
import type { StoredMessage } from '../../protocol/message/record.js';
import { RawClient } from '../support/raw-client.js';
import type { SeededRandom } from '../support/seeded-random.js';
import { pull } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { eachMessage } from './support/audit.js';
import type { BrokerProcess } from './support/broker-process.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';
import { sized } from '../support/size.js';

const MESSAGES = sized(50_000, 1_000_000);
const CONNECTIONS = 64;
const QUEUES = 16;
const WINDOW = 16;
const MARKER_BYTES = 8;
/** Two of the largest records. */
const RING_BYTES = 2 * (512 + 64) * 1024;
const LIMIT_MS = sized(90_000, 1_800_000);

/** B08: a body that holds bytes of other connections. */
describe('connections that are reset in the middle of a frame', () => {
  chaosTest('every stored body is one that was sent whole, and holds the bytes of its own connection only', resets);
});

async function resets(scene: Scene): Promise<void> {
  const broker = scene.broker({
    mappedFileSizeCommitLog: 16 * 1024 * 1024,
    mappedFileSizeConsumeQueue: 600_000,
    // So small that sends wait for it: the way on which their bytes are kept longest.
    ringBytes: RING_BYTES,
    waitTimeMillsInSendQueue: LIMIT_MS,
  });
  await broker.start();
  await createTopic(broker.port, 'T', QUEUES);
  const sent = new Sends();
  const senders = Array.from({ length: CONNECTIONS }, (_, id) => new Sender(id, broker.port, sent, scene.random));
  const consumers = Array.from({ length: QUEUES }, (_, queueId) => consume(broker, queueId, sent));
  for (const sender of senders) sender.connect();
  const consumed = Promise.all(consumers);
  const seen = await Promise.race([consumed, allSent(sent, broker).then(() => consumed)]);
  assert.ok(sent.resets >= CONNECTIONS / 4, `only ${sent.resets} connections were reset`);
  await auditBodies(broker, sent);
  assert.ok(seen.reduce((sum, count) => sum + count, 0) >= sent.acked, 'the consumers have not seen every message');
}

async function allSent(sent: Sends, broker: BrokerProcess): Promise<void> {
  const done = (): boolean => sent.acked >= MESSAGES && sent.open === 0;
  await until(() => done() || broker.ending !== undefined, `${MESSAGES} messages are acknowledged`, LIMIT_MS);
  assert.equal(broker.ending, undefined, 'the broker ended');
  assert.deepEqual(sent.refused, []);
  sent.over = true;
}

/** What was sent, over all connections. A key is `connection-number`. */
class Sends {
  /** Whole frames handed to the socket, with the CRC of their bodies. */
  readonly whole = new Map<string, number>();
  readonly ackedKeys = new Set<string>();
  readonly refused: string[] = [];
  acked = 0;
  open = 0;
  resets = 0;
  over = false;

  get enough(): boolean {
    return this.acked + this.open >= MESSAGES;
  }
}

/** Sends as fast as its window allows; every fourth one resets its connection in the middle of a frame now and then. */
class Sender {
  readonly #marker: Buffer;
  readonly #open = new Map<number, string>();
  #socket: Socket | undefined;
  #number = 0;

  constructor(
    private readonly id: number,
    private readonly port: number,
    private readonly sent: Sends,
    private readonly random: SeededRandom,
  ) {
    this.#marker = Buffer.from(`<${String(id).padStart(MARKER_BYTES - 2, '#')}>`);
  }

  connect(): void {
    const socket = connect({ host: '127.0.0.1', port: this.port, noDelay: true });
    this.#socket = socket;
    const assembler = new FrameAssembler();
    socket.on('connect', () => this.#fill(socket));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed());
    socket.on('data', (chunk) => {
      assembler.push(chunk, (buffer, start, end) => {
        const { opaque, code, remark } = decodeCommand(buffer, start, end);
        this.#answered(opaque, code, remark);
      });
      this.#fill(socket);
    });
  }

  #fill(socket: Socket): void {
    if (socket !== this.#socket) return;
    while (this.#open.size < WINDOW && !this.sent.enough) {
      const number = this.#number++;
      const key = `${this.id}-${number}`;
      const body = this.#body();
      const frame = this.#frame(number, key, body);
      if (this.id % 4 === 0 && this.random.chance(0.02)) {
        this.#cut(socket, frame);
        return;
      }
      this.sent.whole.set(key, crc32(body));
      this.#open.set(number, key);
      this.sent.open++;
      socket.write(frame);
    }
    if (this.sent.enough && this.#open.size === 0) socket.destroy();
  }

  /** Part of a frame, then a reset as soon as those bytes have left. */
  #cut(socket: Socket, frame: Buffer): void {
    this.sent.resets++;
    socket.write(frame.subarray(0, 1 + this.random.below(frame.length - 1)), () => socket.resetAndDestroy());
    this.#socket = undefined;
  }

  #closed(): void {
    this.sent.open -= this.#open.size;
    this.#open.clear();
    if (!this.sent.over && !this.sent.enough) this.connect();
  }

  #answered(number: number, code: number, remark: string | null): void {
    const key = this.#open.get(number);
    if (key === undefined) return;
    this.#open.delete(number);
    this.sent.open--;
    if (code !== ResponseCode.SUCCESS) {
      this.sent.refused.push(`${key}: ${code} ${remark}`);
      return;
    }
    this.sent.acked++;
    this.sent.ackedKeys.add(key);
  }

  /** Most are small, some as large as they get. */
  #body(): Buffer {
    const kind = this.random.next();
    const bytesMax = kind < 0.9 ? 1024 : kind < 0.99 ? 16 * 1024 : 256 * 1024;
    return Buffer.alloc(1 + this.random.below(bytesMax), this.#marker);
  }

  #frame(opaque: number, key: string, body: Buffer): Buffer {
    const ext = encodeSendMessageV2({
      producerGroup: 'chaos',
      topic: 'T',
      defaultTopic: 'TBW102',
      defaultTopicQueueNums: QUEUES,
      queueId: opaque % QUEUES,
      sysFlag: 0,
      bornTimestamp: 0,
      flag: 0,
      properties: `KEYS\u0001${key}\u0002CRC\u0001${crc32(body)}\u0002`,
      unitMode: false,
      batch: false,
    });
    return encodeRequest({ code: RequestCode.SEND_MESSAGE_V2, opaque, ext, body });
  }
}

/** A consumer that waits at the end of its queue for what arrives. Returns how many messages it has checked. */
async function consume(broker: BrokerProcess, queueId: number, sent: Sends): Promise<number> {
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const sysFlag = PullSysFlag.SUBSCRIPTION | PullSysFlag.SUSPEND;
  let offset = 0;
  for (;;) {
    const { code, remark, messages } = await pull(client, {
      consumerGroup: `chaos-${queueId}`,
      topic: 'T',
      queueId,
      queueOffset: offset,
      maxMsgNums: 1000,
      sysFlag,
      suspendTimeoutMillis: 500,
    });
    for (const message of messages) check(message, sent);
    offset += messages.length;
    if (code === ResponseCode.PULL_NOT_FOUND && sent.over) return offset;
    assert.ok(code === ResponseCode.SUCCESS || code === ResponseCode.PULL_NOT_FOUND, `pull: ${code} ${remark}`);
  }
}

async function auditBodies(broker: BrokerProcess, sent: Sends): Promise<void> {
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const stored = new Set<string>();
  for (let queueId = 0; queueId < QUEUES; queueId++) {
    await eachMessage(client, 'T', queueId, (message) => {
      const key = check(message, sent);
      assert.ok(!stored.has(key), `message ${key} is stored twice`);
      stored.add(key);
    });
  }
  const lost = [...sent.ackedKeys].filter((key) => !stored.has(key));
  assert.deepEqual(lost.slice(0, 10), [], `${lost.length} acknowledged messages are lost`);
}

/** Fails when a message is not, byte for byte, one that was sent whole. Returns its key. */
function check({ body, bodyCrc, properties, queueId, queueOffset }: StoredMessage, sent: Sends): string {
  const where = `${queueId}/${queueOffset}`;
  const key = propertyOf(properties, 'KEYS') ?? '';
  const crc = crc32(body);
  assert.equal(sent.whole.get(key), crc, `${where}: message ${key} was not sent like this, or not whole`);
  assert.equal(String(crc), propertyOf(properties, 'CRC'), `${where}: the property has another CRC`);
  assert.equal(bodyCrc, crc, `${where}: the record has another CRC`);
  const connection = Number(key.slice(0, key.indexOf('-')));
  const marker = Buffer.from(`<${String(connection).padStart(MARKER_BYTES - 2, '#')}>`);
  assert.ok(body.equals(Buffer.alloc(body.length, marker)), `${where}: message ${key} holds foreign bytes`);
  return key;
}
