import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { before, describe, it } from 'mocha';
import { until } from '../support/until.js';
import type { Queue } from './support/driver.js';
import { arrived, createTopic, driver, mqadmin, numbered, patienceMs, target, unique } from './support/suite.js';

const systemTopics = ['TBW102', 'SELF_TEST_TOPIC', 'BenchmarkTest', 'OFFSET_MOVED_EVENT', 'SCHEDULE_TOPIC_XXXX'];

/** What brokerStatus shows of any 4.9.7 broker and what each value looks like. */
const statusValues: Record<string, RegExp> = {
  bootTimestamp: /^\d{13}$/,
  brokerVersion: /^407$/,
  brokerVersionDesc: /^V4_9_7$/,
  commitLogDirCapacity: /^Total : .* Free : .*/,
  commitLogDiskRatio: /^\d(\.\d+)?$/,
  commitLogMaxOffset: /^\d+$/,
  commitLogMinOffset: /^0$/,
  dispatchBehindBytes: /^\d+$/,
  earliestMessageTimeStamp: /^-?\d+$/,
  getTotalTps: /^[\d.]+( [\d.]+)*$/,
  msgPutTotalTodayNow: /^[1-9]\d*$/,
  pullThreadPoolQueueSize: /^\d+$/,
  putMessageAverageSize: /^\d+\.\d+$/,
  putMessageTimesTotal: /^[1-9]\d*$/,
  runtime: /^\[ 0 days, 0 hours, \d+ minutes, \d+ seconds \]$/,
  sendThreadPoolQueueSize: /^\d+$/,
};

const columns = (line: string | undefined): string[] => (line ?? '').trim().split(/ {2,}/);
const timePattern = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(,\d{3})?$/;

/** Waits until the broker has dispatched what it acknowledged. */
async function filled(queue: Queue | undefined, end: number): Promise<void> {
  const reader = await (await driver()).pullConsumer((await target()).namesrv, unique('group'));
  assert.ok(queue);
  await reader.filled(queue, end);
  await reader.close();
}

describe('mqadmin of 4.9.7', () => {
  // 4.9: StoreStatsService#getPutTps fails until it has its first sample, a second after the start.
  before(async () => {
    const [java, { namesrv, broker }] = [await driver(), await target()];
    const sampled = async (): Promise<boolean> =>
      (await java.mqadmin('brokerStatus', '-n', namesrv, '-b', broker)).err === '';
    await until(sampled, 'the broker tells its status', patienceMs);
  });

  it('clusterList shows the broker and its version', async () => {
    const served = await target();
    const [heading, row, ...more] = await mqadmin(served, 'clusterList');
    assert.match(heading ?? '', /^#Cluster Name +#Broker Name +#BID +#Addr +#Version/);
    assert.match(
      row ?? '',
      new RegExp(`^DefaultCluster +broker-a +0 +${served.broker} +V4_9_7 +[\\d.]+\\(0,0ms\\) +[\\d.]+\\(0,0ms\\) +0 `),
    );
    assert.deepEqual(more, []);
  });

  it('topicList shows the topics of the system and ours; with -c the cluster and the groups', async () => {
    const served = await target();
    const topic = unique('listed');
    await createTopic(served, topic, 1);
    const group = unique('group');
    const consumer = await (await driver()).pushConsumer({ namesrv: served.namesrv, group, topic });
    const listed = await mqadmin(served, 'topicList');
    for (const name of [...systemTopics, 'broker-a', 'DefaultCluster', topic]) assert.ok(listed.includes(name), name);
    const row = async (): Promise<string[]> =>
      columns((await mqadmin(served, 'topicList', '-c')).find((line) => line.includes(topic)));
    await until(async () => (await row()).includes(group), 'topicList -c names the group', patienceMs);
    assert.deepEqual(await row(), ['DefaultCluster', topic, group]);
    await consumer.close();
  });

  it('updateTopic makes a topic and changes it, topicRoute shows both, deleteTopic removes it', async () => {
    const served = await target();
    const topic = unique('changed');
    const made = await mqadmin(served, 'updateTopic', ...['-c', 'DefaultCluster', '-t', topic, '-r', '3', '-w', '2']);
    assert.deepEqual(made, [
      `create topic to ${served.broker} success.`,
      `TopicConfig [topicName=${topic}, readQueueNums=3, writeQueueNums=2, perm=RW-, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false]`,
    ]);
    const route = async (): Promise<string[]> => columns((await mqadmin(served, 'topicRoute', '-l', '-t', topic))[1]);
    assert.deepEqual(await route(), ['DefaultCluster', 'broker-a', `{0=${served.broker}}`, '3', '2', '6']);

    await mqadmin(served, 'updateTopic', ...['-b', served.broker, '-t', topic, '-r', '1', '-w', '5', '-p', '4']);
    await until(async () => (await route())[4] === '5', 'the route shows the change', patienceMs);
    assert.deepEqual((await route()).slice(3), ['1', '5', '4']);

    const deleted = await mqadmin(served, 'deleteTopic', '-c', 'DefaultCluster', '-t', topic);
    assert.deepEqual(deleted, [
      `delete topic [${topic}] from cluster [DefaultCluster] success.`,
      `delete topic [${topic}] from NameServer success.`,
    ]);
    const gone = await (await driver()).mqadmin('topicRoute', '-n', served.namesrv, '-t', topic);
    assert.match(gone.err, /CODE: 17 +DESC: No topic route info in name server for the topic: /);
    assert.ok(!(await mqadmin(served, 'topicList')).includes(topic));
  });

  it('updateTopic passes on why the broker refuses a name', async () => {
    const served = await target();
    const args = ['updateTopic', '-n', served.namesrv, '-b', served.broker, '-t', 'with blank'];
    const { err } = await (await driver()).mqadmin(...args);
    assert.match(err, /CODE: 1 +DESC: The specified topic contains illegal characters/);
  });

  it('topicStatus shows the offsets of each queue and when they last changed', async () => {
    const served = await target();
    const topic = unique('status');
    const queues = await createTopic(served, topic, 2);
    const producer = await (await driver()).producer(served.namesrv);
    for (const message of numbered(topic, 3)) await producer.send(message, queues[1]);
    await filled(queues[1], 3);
    const [heading, empty, full, ...more] = await mqadmin(served, 'topicStatus', '-t', topic);
    assert.match(heading ?? '', /^#Broker Name +#QID +#Min Offset +#Max Offset +#Last Updated$/);
    assert.deepEqual(columns(empty), ['broker-a', '0', '0', '0']);
    const [time] = columns(full).slice(4);
    assert.deepEqual(columns(full).slice(0, 4), ['broker-a', '1', '0', '3']);
    assert.match(time ?? '', timePattern);
    assert.deepEqual(more, []);
    await producer.close();
  });

  it('consumerProgress shows a group, its lag, and all groups', async () => {
    const [java, served] = [await driver(), await target()];
    const topic = unique('progress');
    const [queue] = await createTopic(served, topic, 1);
    const producer = await java.producer(served.namesrv);
    const group = unique('group');
    for (const message of numbered(topic, 3)) await producer.send(message, queue);
    const consumer = await java.pushConsumer({ namesrv: served.namesrv, group, topic });
    await arrived(consumer, 3);
    const summary = async (): Promise<string[]> =>
      columns((await mqadmin(served, 'consumerProgress')).find((line) => line.startsWith(`${group} `)));
    assert.deepEqual((await summary()).slice(1, 5), ['1', 'V4_9_7', 'PUSH', 'CLUSTERING']);
    await consumer.close();
    for (const message of numbered(topic, 2, 3)) await producer.send(message, queue);
    await filled(queue, 5);

    const progress = await mqadmin(served, 'consumerProgress', '-g', group);
    assert.match(progress[0] ?? '', /^#Topic +#Broker Name +#QID +#Broker Offset +#Consumer Offset +#Diff +#LastTime$/);
    const row = columns(progress.find((line) => line.startsWith(`${topic} `)));
    assert.deepEqual(row.slice(0, 6), [topic, 'broker-a', '0', '5', '3', '2']);
    assert.match(row[6] ?? '', timePattern);
    assert.ok(progress.includes('Diff Total: 2'), progress.join('\n'));
    assert.deepEqual((await summary()).slice(1, 3), ['0', 'OFFLINE']);
    await producer.close();
  });

  it('brokerStatus shows the statistics of the broker, by address and by cluster', async () => {
    const [java, served] = [await driver(), await target()];
    const producer = await java.producer(served.namesrv);
    await producer.send({ topic: unique('counted'), body: 'x' });
    const lines = await mqadmin(served, 'brokerStatus', '-b', served.broker);
    const values = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), line.replace(/^[^:]+: /, '')]),
    );
    for (const [key, pattern] of Object.entries(statusValues)) assert.match(values.get(key) ?? 'absent', pattern, key);
    const byCluster = await mqadmin(served, 'brokerStatus', '-c', 'DefaultCluster');
    assert.ok(byCluster.every((line) => line.startsWith(`${served.broker} `)));
    assert.equal(byCluster.length, lines.length);
    await producer.close();
  });

  it('queryMsgById shows a message with its properties and body', async () => {
    const [java, served] = [await driver(), await target()];
    const topic = unique('by_id');
    const [queue] = await createTopic(served, topic, 1);
    const producer = await java.producer(served.namesrv);
    const message = { topic, body: '正文 🚀', tags: 't', keys: 'one two', properties: { 颜色: '红 🚀' } };
    const sent = await producer.send(message, queue);
    const lines = await mqadmin(served, 'queryMsgById', '-i', sent.offsetMsgId);
    const value = (name: string): string =>
      (lines.find((line) => line.startsWith(`${name}:`)) ?? '').slice(name.length + 1).trim();
    assert.deepEqual(['OffsetID', 'Topic', 'Tags', 'Keys', 'Queue ID', 'Queue Offset', 'Reconsume Times'].map(value), [
      sent.offsetMsgId,
      topic,
      '[t]',
      '[one two]',
      '0',
      '0',
      '0',
    ]);
    assert.equal(value('Store Host'), served.broker);
    assert.match(value('Store Timestamp'), timePattern);
    const properties = value('Properties');
    for (const part of ['颜色=红 🚀', 'CLUSTER=DefaultCluster', `UNIQ_KEY=${sent.msgId}`]) {
      assert.ok(properties.includes(part), properties);
    }
    const bodyFile = value('Message Body Path');
    assert.equal(readFileSync(bodyFile, 'utf8'), message.body);
    rmSync(bodyFile);
    await producer.close();
  });

  it('sendMessage sends to a chosen queue', async () => {
    const [java, served] = [await driver(), await target()];
    const topic = unique('by_mqadmin');
    const queues = await createTopic(served, topic, 3);
    const where = ['-t', topic, '-b', 'broker-a', '-i', '2'];
    const lines = await mqadmin(served, 'sendMessage', ...where, '-p', '你好 🚀', '-k', 'k7', '-c', 'tag');
    assert.match(lines[0] ?? '', /^#Broker Name +#QID +#Send Result +#MsgId$/);
    const [brokerName, queueId, status, msgId] = columns(lines[1]);
    assert.deepEqual([brokerName, queueId, status], ['broker-a', '2', 'SEND_OK']);
    const reader = await java.pullConsumer(served.namesrv, unique('group'));
    assert.ok(queues[2]);
    const [stored] = await reader.drain(queues[2], 1);
    assert.deepEqual(
      [stored?.body.toString(), stored?.properties['KEYS'], stored?.properties['TAGS'], stored?.msgId],
      ['你好 🚀', 'k7', 'tag', msgId],
    );
    await reader.close();
  });
});
