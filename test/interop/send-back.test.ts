import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeConsumerSendMsgBack } from '../../protocol/headers/consumer-send-msg-back.js';
import { formatProperties, parseProperties } from '../../protocol/message/properties.js';
import type { StoredMessage } from '../../protocol/message/record.js';
import { RawClient } from '../support/raw-client.js';
import { heartbeat, pullAll, send, subscriptionTo } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { mqadmin } from './support/suite.js';
import { startTarget, type Target, type TargetKind } from './support/target.js';

const GROUP = 'G';
const TOPIC = 'sent_back';
const ARRIVAL_MS = 20_000;

/** What a broker stored and made, without what no two runs have in common. */
interface Outcome {
  readonly records: Readonly<Record<string, object>>;
  readonly topics: readonly string[];
}

describe('messages that are sent back, stored by this broker and by that of 4.9.7', () => {
  const targets: Target[] = [];
  const started = (kind: TargetKind): Promise<Target> =>
    startTarget({ kind, options: { messageDelayLevel: Array.from({ length: 18 }, () => '1s').join(' ') } });

  before(async () => {
    targets.push(await started('kernel'), await started('jvm'));
  });
  after(() => Promise.all(targets.map((target) => target.stop())));

  it('are equal: retries, retries of retries, dead letters, and their topics', async function () {
    this.timeout(120_000);
    const [ours, theirs] = await Promise.all(targets.map(outcome));
    assert.ok(Object.keys(theirs!.records).length === 4);
    assert.deepEqual(ours, theirs);
  });
});

async function outcome(target: Target): Promise<Outcome> {
  using client = await RawClient.connect(target.broker);
  await heartbeat(client, GROUP, [subscriptionTo(TOPIC), subscriptionTo(`%RETRY%${GROUP}`)]);
  const properties = formatProperties(
    new Map([
      ['KEYS', 'k'],
      ['TAGS', 'a'],
      ['UNIQ_KEY', 'ID'],
    ]),
  );
  const { code, remark } = await send(client, { topic: TOPIC, properties, flag: 7, body: Buffer.from('back') });
  assert.equal(code, ResponseCode.SUCCESS, remark ?? '');
  const [first] = await pullAll(client, 1, { topic: TOPIC, consumerGroup: GROUP });

  await sendBack(client, first!, 0);
  const retry = await arrivedIn(client, `%RETRY%${GROUP}`, 1);
  await sendBack(client, retry, 5);
  const second = await arrivedIn(client, `%RETRY%${GROUP}`, 2);
  await sendBack(client, second, -1);
  const dead = await arrivedIn(client, `%DLQ%${GROUP}`, 1);
  // The limit that the consumer states is reached: whatever the level.
  await sendBack(client, second, 0, 2);
  const limit = await arrivedIn(client, `%DLQ%${GROUP}`, 2);
  const records = { retry, second, dead, limit };
  for (const [name, record] of Object.entries(records))
    assert.equal(parseProperties(record.properties).get('ORIGIN_MESSAGE_ID'), first!.msgId, name);
  return {
    records: Object.fromEntries(Object.entries(records).map(([name, record]) => [name, comparable(record)])),
    topics: [await topicOf(target, `%RETRY%${GROUP}`), await topicOf(target, `%DLQ%${GROUP}`)],
  };
}

async function sendBack(client: RawClient, message: StoredMessage, delayLevel: number, max?: number): Promise<void> {
  const ext = encodeConsumerSendMsgBack({
    offset: message.physicalOffset,
    group: GROUP,
    delayLevel,
    originMsgId: 'ID',
    originTopic: TOPIC,
    unitMode: false,
    ...(max === undefined ? {} : { maxReconsumeTimes: max }),
  });
  const { code, remark } = await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext });
  assert.equal(code, ResponseCode.SUCCESS, remark ?? '');
}

/** The last of so many messages of a queue. */
async function arrivedIn(client: RawClient, topic: string, count: number): Promise<StoredMessage> {
  let found: StoredMessage[] = [];
  const there = async (): Promise<boolean> => {
    const pulled = await pullAll(client, count, { topic, consumerGroup: GROUP }).catch(() => []);
    found = pulled;
    return found.length === count;
  };
  await until(there, `message ${count} of ${topic}`, ARRIVAL_MS);
  return found.at(-1)!;
}

function comparable(record: StoredMessage): object {
  const { topic, queueId, queueOffset, flag, sysFlag, bornTimestamp, reconsumeTimes, bodyCrc, totalBytes } = record;
  const properties = Object.fromEntries([...parseProperties(record.properties)].sort());
  return {
    ...{ topic, queueId, queueOffset, flag, sysFlag, bornTimestamp, reconsumeTimes, bodyCrc, totalBytes },
    body: record.body.toString(),
    preparedTransactionOffset: record.preparedTransactionOffset,
    properties: { ...properties, ORIGIN_MESSAGE_ID: 'checked above' },
  };
}

/** Queues and permission as the name server tells them. */
async function topicOf(target: Target, topic: string): Promise<string> {
  let shown: string[] = [];
  const known = async (): Promise<boolean> => {
    shown = await mqadmin(target, 'topicRoute', '-t', topic).catch(() => []);
    return shown.join('').includes('queueDatas');
  };
  await until(known, `the route of ${topic}`, ARRIVAL_MS);
  return shown
    .filter((line) => /perm|QueueNums|topicSysFlag/.test(line))
    .map((line) => line.trim())
    .join(' ');
}
