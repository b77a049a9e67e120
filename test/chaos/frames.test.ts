import assert from 'node:assert/strict';
import { systemClock } from '../../kernel/base/clock.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { RawClient } from '../support/raw-client.js';
import { pull, send } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { BadClient } from './support/bad-client.js';
import { BadFrames } from './support/bad-frames.js';
import type { BrokerProcess } from './support/broker-process.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';
import { sized } from '../support/size.js';

const FRAMES = sized(20_000, 500_000);
const CONNECTIONS = 20;
const MEMORY_BACK_BYTES = 50 * 1024 * 1024;
/** Over a process that has only seen the client that behaves. */
const MEMORY_BYTES_MAX = 200 * 1024 * 1024;
const MEMORY_BACK_LIMIT_MS = 60_000;
/** Of one request of the client that behaves. */
const GOOD_LIMIT_MS = 5000;

describe('bad frames', () => {
  chaosTest('each is answered or its connection closed, beside a client that notices nothing', badFrames);
});

async function badFrames(scene: Scene): Promise<void> {
  const broker = scene.broker({ logLevel: 'error' });
  await broker.start();
  await createTopic(broker.port, 'good', 1);
  const good = new GoodClient(await RawClient.connect(`127.0.0.1:${broker.port}`));
  await good.work(1000);
  const quietBytes = broker.residentBytes();
  const bad = new BadFrames(scene.random);
  const clients = Array.from({ length: CONNECTIONS }, () => new BadClient(broker.port));
  // The first ones make the process as large as it has to be to have seen everything once.
  await attack(clients, bad, good, FRAMES / 10);
  const grownBytes = broker.residentBytes();
  await attack(clients, bad, good, (FRAMES * 9) / 10);
  for (const client of clients) client.end();
  assert.equal(broker.ending, undefined, 'the broker ended');
  const closes = clients.reduce((sum, client) => sum + client.closes, 0);
  assert.ok(closes > FRAMES / 20 && closes < FRAMES, `${closes} of ${FRAMES} frames closed their connection`);
  await notPolluted(broker);
  await memoryComesBack(broker, Math.min(grownBytes + MEMORY_BACK_BYTES, quietBytes + MEMORY_BYTES_MAX), good);
}

async function attack(clients: readonly BadClient[], bad: BadFrames, good: GoodClient, frames: number): Promise<void> {
  let left = frames;
  const over = Promise.all(
    clients.map(async (client) => {
      while (left-- > 0) await client.send(bad.next());
    }),
  );
  await Promise.all([over, good.workUntil(over)]);
}

/** Only a process that goes on working collects its garbage. */
async function memoryComesBack(broker: BrokerProcess, bytesMax: number, good: GoodClient): Promise<void> {
  const isBack = async (): Promise<boolean> => {
    await good.work(100);
    return broker.residentBytes() <= bytesMax;
  };
  await until(isBack, 'memory comes back', MEMORY_BACK_LIMIT_MS).catch((error: unknown) => {
    throw new Error(`${String(error)}; the broker holds ${broker.residentBytes()} bytes, wanted are ${bytesMax}`);
  });
}

/** Names of the prototype in one header must not give fields to another. */
async function notPolluted({ port }: BrokerProcess): Promise<void> {
  using client = await RawClient.connect(`127.0.0.1:${port}`);
  const { code, remark } = await client.ask(RequestCode.GET_MAX_OFFSET, { ext: {} });
  assert.equal(code, ResponseCode.SYSTEM_ERROR, 'a request without a topic has found one');
  assert.match(remark ?? '', /topic/);
}

/** Sends and pulls, one request at a time, and expects every answer soon and right. */
class GoodClient {
  #sent = 0;

  constructor(private readonly client: RawClient) {}

  async work(requests: number): Promise<void> {
    for (let i = 0; i < requests; i++) await this.#once();
  }

  async workUntil(end: Promise<unknown>): Promise<void> {
    let over = false;
    end.then(
      () => (over = true),
      () => (over = true),
    );
    while (!over) await this.#once();
  }

  async #once(): Promise<void> {
    const body = Buffer.from(`good ${this.#sent}`);
    const begunMs = systemClock.monoMs();
    const sent = await send(this.client, { topic: 'good', body });
    assert.equal(sent.code, ResponseCode.SUCCESS, `send ${this.#sent}: ${sent.remark}`);
    assert.equal(sent.header.queueOffset, this.#sent);
    const answered = async (): Promise<boolean> => {
      const { code, messages } = await pull(this.client, { topic: 'good', queueOffset: this.#sent, maxMsgNums: 1 });
      return code === ResponseCode.SUCCESS && messages[0]!.body.equals(body);
    };
    await until(answered, `message ${this.#sent} comes back`, GOOD_LIMIT_MS);
    const tookMs = systemClock.monoMs() - begunMs;
    assert.ok(tookMs <= GOOD_LIMIT_MS, `the client that behaves waited ${Math.round(tookMs)} ms`);
    this.#sent++;
  }
}
