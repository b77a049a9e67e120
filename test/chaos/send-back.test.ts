import assert from 'node:assert/strict';
import { systemClock } from '../../kernel/base/clock.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeConsumerSendMsgBack } from '../../protocol/headers/consumer-send-msg-back.js';
import { propertyOf } from '../../protocol/message/properties.js';
import type { StoredMessage } from '../../protocol/message/record.js';
import { RawClient } from '../support/raw-client.js';
import { heartbeat, send, subscriptionTo } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { eachMessage } from './support/audit.js';
import type { BrokerProcess } from './support/broker-process.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';
import { sized } from '../support/size.js';

const GROUP = 'chaos';
const RETRY_TOPIC = `%RETRY%${GROUP}`;
const DELAY_MS = 1000;
const ARRIVAL_LIMIT_MS = 30_000;
const levels = Array.from({ length: 18 }, () => `${DELAY_MS / 1000}s`).join(' ');

/** When a send-back was asked for, by message id of the first delivery. */
type SentBack = Map<string, { readonly body: Buffer; readonly askedWallMs: number }>;

describe('kill -9 while messages wait for their retry', () => {
  for (const flushDiskType of ['ASYNC_FLUSH', 'SYNC_FLUSH']) {
    chaosTest(`${flushDiskType}: a send-back that was answered is delivered, not early, with the same bytes`, (scene) =>
      sendBacks(scene, flushDiskType),
    );
  }
});

/** Every round sends back some messages and kills: before their time, in the middle of the deliveries, or twice. */
async function sendBacks(scene: Scene, flushDiskType: string): Promise<void> {
  const broker = scene.broker({ messageDelayLevel: levels, flushDelayOffsetInterval: 10, flushDiskType });
  await broker.start();
  await createTopic(broker.port, 'T', 1);
  const messages = await prepare(broker, sized(200, 2000));
  const perRound = sized(60, 100);
  const answered: SentBack = new Map();
  for (let from = 0; from + perRound <= messages.length; from += perRound) {
    await sendBack(broker, messages.slice(from, from + perRound), answered, scene);
    if (scene.random.chance(0.5)) await killWhileDelivering(broker, answered, scene);
    await broker.start();
  }
  await allArrive(broker, answered);
}

/** A second kill, when a random part of what is due has been delivered. */
async function killWhileDelivering(broker: BrokerProcess, answered: SentBack, scene: Scene): Promise<void> {
  await broker.start();
  const missing = await missingOf(broker, answered);
  const left = scene.random.below(missing.length + 1);
  await until(
    async () => (await missingOf(broker, answered)).length <= left,
    `of ${missing.length} send-backs all but ${left} are delivered`,
    ARRIVAL_LIMIT_MS,
  );
  await broker.kill9();
}

/** Stores messages and reads them as a consumer would. */
async function prepare(broker: BrokerProcess, count: number): Promise<StoredMessage[]> {
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const { code } = await heartbeat(client, GROUP, [subscriptionTo('T')]);
  assert.equal(code, ResponseCode.SUCCESS);
  for (let i = 0; i < count; i++) {
    const { code, remark } = await send(client, { body: Buffer.from(`message ${i}`) });
    assert.equal(code, ResponseCode.SUCCESS, `send ${i}: ${remark}`);
  }
  const messages: StoredMessage[] = [];
  await until(async () => {
    messages.length = 0;
    await eachMessage(client, 'T', 0, (message) => messages.push(message));
    return messages.length === count;
  }, 'all messages are visible');
  return messages;
}

/** Asks for all at once and kills when a random number of them is answered. */
async function sendBack(
  broker: BrokerProcess,
  messages: readonly StoredMessage[],
  answered: SentBack,
  scene: Scene,
): Promise<void> {
  const client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const target = answered.size + 1 + scene.random.below(messages.length);
  const asked = messages.map(async ({ physicalOffset: offset, msgId, body }) => {
    const ext = encodeConsumerSendMsgBack({ offset, group: GROUP, delayLevel: 0, unitMode: false, originMsgId: msgId });
    const askedWallMs = systemClock.wallMs();
    const { code, remark } = await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext });
    assert.equal(code, ResponseCode.SUCCESS, `send-back of ${msgId}: ${remark}`);
    answered.set(msgId, { body, askedWallMs });
    if (answered.size === target) broker.signal('SIGKILL');
  });
  const outcomes = await Promise.allSettled(asked);
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => String(reason));
  assert.deepEqual(
    refused.filter((reason) => !reason.includes('closed the connection')),
    [],
  );
  await broker.ended();
}

async function retriesOf(broker: BrokerProcess): Promise<StoredMessage[]> {
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const retries: StoredMessage[] = [];
  await eachMessage(client, RETRY_TOPIC, 0, (message) => retries.push(message));
  return retries;
}

/** Message ids of answered send-backs that were not delivered so far. */
async function missingOf(broker: BrokerProcess, answered: SentBack): Promise<string[]> {
  const there = new Set((await retriesOf(broker)).map(originOf));
  return [...answered.keys()].filter((msgId) => !there.has(msgId));
}

async function allArrive(broker: BrokerProcess, answered: SentBack): Promise<void> {
  const allThere = async (): Promise<boolean> => (await missingOf(broker, answered)).length === 0;
  await until(allThere, 'every send-back that was answered is delivered', ARRIVAL_LIMIT_MS).catch(
    async (error: unknown) => {
      const missing = await missingOf(broker, answered);
      throw new Error(`${String(error)}; ${missing.length} of ${answered.size} are missing, the first ${missing[0]}`);
    },
  );
  for (const retry of await retriesOf(broker)) {
    const origin = originOf(retry);
    const first = answered.get(origin);
    assert.equal(retry.reconsumeTimes, 1, `retry of ${origin}`);
    if (first === undefined) continue;
    assert.ok(retry.body.equals(first.body), `retry of ${origin} has other bytes`);
    const earlyMs = first.askedWallMs + DELAY_MS - retry.storeTimestamp;
    assert.ok(earlyMs <= 1, `retry of ${origin} came ${earlyMs} ms early`);
  }
}

function originOf(retry: StoredMessage): string {
  return propertyOf(retry.properties, 'ORIGIN_MESSAGE_ID') ?? '';
}
