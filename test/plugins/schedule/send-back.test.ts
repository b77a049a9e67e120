import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { SubscriptionGroups } from '../../../plugins/groups/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { RequestCode, Version } from '../../../protocol/codes.js';
import {
  encodeConsumerSendMsgBack,
  type ConsumerSendMsgBackRequestHeader,
} from '../../../protocol/headers/consumer-send-msg-back.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { decodeRecord, type StoredMessage } from '../../../protocol/message/record.js';
import type { Answer, RawClient } from '../../support/raw-client.js';
import { propertyText, pull, pullAll, send, type SendWish } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const SCHEDULE = 'SCHEDULE_TOPIC_XXXX';
const LEVELS = { messageDelayLevel: '1s 2s' };

function sendBack(
  client: RawClient,
  offset: number,
  wish: Partial<ConsumerSendMsgBackRequestHeader> & { readonly version?: number } = {},
): Promise<Answer> {
  const { version = Version.current, ...header } = wish;
  const ext = encodeConsumerSendMsgBack({ offset, group: 'G', delayLevel: 1, unitMode: false, ...header });
  return client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext, version });
}

async function stored(client: RawClient, wish: SendWish = {}): Promise<{ offset: number; msgId: string }> {
  const { code, header } = await send(client, wish);
  assert.equal(code, 0);
  return { offset: Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8)), msgId: header.msgId };
}

/** The properties as an object. */
function read({ properties }: StoredMessage): Record<string, string> {
  return Object.fromEntries(parseProperties(properties));
}

describe('send-back (36)', () => {
  let broker: TestBroker;
  let client: RawClient;
  let groups = 0;
  let group = '';
  let retry = { topic: '', consumerGroup: '' };
  let dead = { topic: '', consumerGroup: '' };

  before(async () => {
    broker = await testBroker({ options: LEVELS });
    client = await broker.connect();
  });

  beforeEach(() => {
    group = `G${groups++}`;
    retry = { topic: `%RETRY%${group}`, consumerGroup: group };
    dead = { topic: `%DLQ%${group}`, consumerGroup: group };
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  it('stores the copy before it answers, and delivers it once, after its delay, with all it had', async () => {
    const properties = propertyText({ TAGS: 'a', KEYS: 'k', UNIQ_KEY: 'U', WAIT: 'true' });
    const { offset, msgId } = await stored(client, { topic: 'Work', body: Buffer.from('job'), properties, flag: 9 });
    const { watermarks } = broker.get(StoreState);
    const before = watermarks.get(Watermark.appended);
    const answer = await sendBack(client, offset, { group });
    assert.deepEqual([answer.code, answer.remark], [0, null]);
    assert.ok(watermarks.get(Watermark.appended) > before, 'it is stored');
    assert.equal((await pull(client, retry)).messages.length, 0, 'and not there yet');

    const [back] = await pullAll(client, 1, retry);
    const [first] = await pullAll(client, 1, { topic: 'Work' });
    assert.deepEqual(read(back), {
      TAGS: 'a',
      KEYS: 'k',
      UNIQ_KEY: 'U',
      CLUSTER: 'DefaultCluster',
      RETRY_TOPIC: 'Work',
      WAIT: 'false',
      DELAY: '1',
      ORIGIN_MESSAGE_ID: msgId,
      REAL_TOPIC: retry.topic,
      REAL_QID: '0',
    });
    assert.deepEqual(
      [back.body.toString(), back.flag, back.bornTimestamp, back.bornHost, back.reconsumeTimes],
      ['job', 9, first.bornTimestamp, first.bornHost, 1],
    );
    const scheduled = await waitingCopies(client, offset, back.physicalOffset);
    assert.equal(scheduled.length, 1);
    const waited = back.storeTimestamp - scheduled[0].storeTimestamp;
    assert.ok(waited >= 1000 && waited < 5000, `it waited ${waited} ms`);
    await until(() => broker.get(Queues).maxOffset(SCHEDULE, 0) > 0, 'the level has it');
    assert.equal((await pullAll(client, 1, retry)).length, 1, 'once');
  });

  it('takes level 3 and more, later the more often it came back, or the highest there is', async () => {
    const { offset } = await stored(client, { topic: 'Levels', reconsumeTimes: 4 });
    const queues = broker.get(Queues);
    const count = queues.maxOffset(SCHEDULE, 1);
    for (const delayLevel of [0, 2, 99]) assert.equal((await sendBack(client, offset, { group, delayLevel })).code, 0);
    await until(() => queues.maxOffset(SCHEDULE, 1) === count + 3, 'all lie in the highest level');
    for (let i = 0; i < 3; i++) {
      const { physicalOffset } = queues.entry(SCHEDULE, 1, count + i)!;
      const { body } = await client.ask(RequestCode.VIEW_MESSAGE_BY_ID, { ext: { offset: String(physicalOffset) } });
      const copy = decodeRecord(body, 0);
      assert.deepEqual([copy.queueId, copy.reconsumeTimes, read(copy)['DELAY']], [1, 5, '2']);
    }
  });

  for (const [name, wish, sent, to] of [
    ['a negative level', { delayLevel: -1 }, {}, 'dead'],
    ['the limit reached', {}, { reconsumeTimes: 16 }, 'dead'],
    ['the limit not reached', {}, { reconsumeTimes: 15 }, 'retry'],
    ['its own limit reached', { maxReconsumeTimes: 2 }, { reconsumeTimes: 2 }, 'dead'],
    ['its own limit not reached', { maxReconsumeTimes: 20 }, { reconsumeTimes: 16 }, 'retry'],
    ['its own limit, from an old client', { maxReconsumeTimes: 2, version: 120 }, { reconsumeTimes: 2 }, 'retry'],
  ] as const)
    it(`goes to the ${to === 'dead' ? 'dead letters' : 'retry topic'} with ${name}`, async () => {
      const { offset, msgId } = await stored(client, { topic: 'Limits', ...sent });
      assert.equal((await sendBack(client, offset, { group, ...wish })).code, 0);
      assert.equal(broker.get(Topics).get(dead.topic) !== undefined, to === 'dead');
      if (to !== 'dead') return;
      const [letter] = await pullAll(client, 1, dead);
      assert.deepEqual(
        [letter.queueId, letter.reconsumeTimes, read(letter)['DELAY'], read(letter)['ORIGIN_MESSAGE_ID']],
        [0, ('reconsumeTimes' in sent ? sent.reconsumeTimes : 0) + 1, '0', msgId],
      );
      const config = broker.get(Topics).get(dead.topic);
      assert.deepEqual([config?.perm, config?.readQueueNums, config?.writeQueueNums], [6, 1, 1]);
    });

  it('follows a message to its end: origin, topic and count stay right (B23)', async () => {
    const table = broker.get(SubscriptionGroups);
    await table.put({ ...table.find(group)!, retryMaxTimes: 2 });
    let { offset, msgId } = await stored(client, { topic: 'Chain', properties: 'UNIQ_KEY\u0001U' });
    const origin = msgId;
    for (let times = 1; times <= 2; times++) {
      assert.equal((await sendBack(client, offset, { group })).code, 0);
      const back = (await pullAll(client, times, retry))[times - 1];
      assert.equal(back.reconsumeTimes, times);
      assert.deepEqual([read(back)['ORIGIN_MESSAGE_ID'], read(back)['RETRY_TOPIC']], [origin, 'Chain']);
      [offset, msgId] = [back.physicalOffset, back.msgId];
    }
    assert.equal((await sendBack(client, offset, { group })).code, 0);
    const [letter] = await pullAll(client, 1, dead);
    assert.equal(letter.reconsumeTimes, 3);
    const { ORIGIN_MESSAGE_ID, RETRY_TOPIC, UNIQ_KEY, REAL_TOPIC } = read(letter);
    assert.deepEqual([ORIGIN_MESSAGE_ID, RETRY_TOPIC, UNIQ_KEY], [origin, 'Chain', 'U']);
    assert.equal(REAL_TOPIC, retry.topic, 'what 4.9 leaves behind of the last delay');
  });

  it('is refused for what is not there', async () => {
    for (const offset of [-1, 1, 2 ** 40]) {
      const { code, remark } = await sendBack(client, offset, { group });
      assert.deepEqual([code, remark], [1, `look message by offset failed, ${offset}`]);
    }
  });

  it('is done with nothing when the group has no retry queues', async () => {
    const { offset } = await stored(client, { topic: 'NoRetry' });
    const table = broker.get(SubscriptionGroups);
    await table.put({ ...table.find(group)!, retryQueueNums: 0 });
    const { watermarks } = broker.get(StoreState);
    const before = watermarks.get(Watermark.appended);
    assert.equal((await sendBack(client, offset, { group })).code, 0);
    assert.equal(watermarks.get(Watermark.appended), before);
    assert.equal(broker.get(Topics).get(retry.topic), undefined);
  });

  it('is refused with 16 when the retry topic may not be written, 26 when the group may not be made', async () => {
    const { offset } = await stored(client, { topic: 'Refused' });
    await sendBack(client, offset, { group });
    await broker.get(Topics).put({ ...broker.get(Topics).get(retry.topic)!, perm: 4 });
    const closed = await sendBack(client, offset, { group });
    assert.deepEqual([closed.code, closed.remark], [16, `the topic[${retry.topic}] sending message is forbidden`]);

    await using strict = await testBroker({ options: { autoCreateSubscriptionGroup: false } });
    using other = await strict.connect();
    const unknown = await sendBack(other, 0);
    assert.equal(unknown.code, 26);
    assert.match(String(unknown.remark), /^subscription group not exist, G/);
    await using locked = await testBroker({ options: { brokerPermission: 4 } });
    using third = await locked.connect();
    const refused = await sendBack(third, 0);
    assert.deepEqual([refused.code, refused.remark], [16, 'the broker[127.0.0.1] sending message is forbidden']);
  });
});

/** The copies that lie between two places of the log and wait in the schedule topic. */
async function waitingCopies(client: RawClient, from: number, to: number): Promise<StoredMessage[]> {
  const found: StoredMessage[] = [];
  for (let at = from; at < to;) {
    const { body } = await client.ask(RequestCode.VIEW_MESSAGE_BY_ID, { ext: { offset: String(at) } });
    const record = decodeRecord(body, 0);
    if (record.topic === SCHEDULE) found.push(record);
    at += record.totalBytes;
  }
  return found;
}

describe('delayed messages over a restart', () => {
  const options = { ...LEVELS, mappedFileSizeCommitLog: 1 << 20, flushDelayOffsetInterval: 60_000 };

  it('are delivered once, by whoever runs when they are due', async () => {
    using dir = tempDir();
    const place = { ...options, storePathRootDir: dir.path };
    const first = await testBroker({ options: place });
    {
      using client = await first.connect();
      const { offset } = await stored(client, { body: Buffer.from('job') });
      await sendBack(client, offset, { delayLevel: 1 });
      await sendBack(client, offset, { delayLevel: 2 });
    }
    await first.stop();

    const second = await testBroker({ options: place });
    {
      using client = await second.connect();
      const back = await pullAll(client, 2, { topic: '%RETRY%G' });
      assert.deepEqual(
        back.map((message) => [message.body.toString(), read(message)['DELAY']]),
        [
          ['job', '1'],
          ['job', '2'],
        ],
      );
    }
    await second.stop();

    await using third = await testBroker({ options: place });
    using client = await third.connect();
    const { offset } = await stored(client);
    await sendBack(client, offset, { delayLevel: 1 });
    assert.equal((await pullAll(client, 3, { topic: '%RETRY%G' })).length, 3, 'none of the old ones came again');
  });

  it('are not lost by a progress file that points beyond the queue', async () => {
    using dir = tempDir();
    mkdirSync(join(dir.path, 'config'), { recursive: true });
    writeFileSync(join(dir.path, 'config', 'delayOffset.json'), '{"offsetTable":{1:100,2:0}}');
    await using broker = await testBroker({ options: { ...options, storePathRootDir: dir.path } });
    using client = await broker.connect();
    const { offset } = await stored(client);
    await sendBack(client, offset, { delayLevel: 1 });
    assert.equal((await pullAll(client, 1, { topic: '%RETRY%G' })).length, 1);
    assert.ok(broker.lines.some(({ message }) => message.includes('progress of a delay level was corrected')));
  });
});
