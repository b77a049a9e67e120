import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import { RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';
import type { Client, Queue, SendResult } from './support/driver.js';
import { javaMembers, ownMembers, type Member } from './support/members.js';
import { createTopic, driver, failure, mqadmin, numbered, patienceMs, target, unique } from './support/suite.js';

const OFFSET_MOVED = 'OFFSET_MOVED_EVENT';
const columns = (line: string | undefined): string[] => (line ?? '').trim().split(/ {2,}/);

/** A topic of one queue and what was sent to it. */
async function filledTopic(count: number): Promise<{ topic: string; queue: Queue; sent: SendResult[] }> {
  const served = await target();
  const topic = unique('grouped');
  const [queue] = await createTopic(served, topic, 1);
  assert.ok(queue);
  const producer = await (await driver()).producer(served.namesrv);
  const sent: SendResult[] = [];
  for (const message of numbered(topic, count)) sent.push(await producer.send(message, queue));
  await producer.close();
  return { topic, queue, sent };
}

/** Broker offset and consumer offset of the only queue, by `consumerProgress`. */
async function progress(group: string, topic: string): Promise<string[]> {
  // It complains of a group that has no offset yet.
  const { out } = await (await driver()).mqadmin('consumerProgress', '-n', (await target()).namesrv, '-g', group);
  return columns(out.split('\n').find((line) => line.startsWith(`${topic} `))).slice(3, 5);
}

async function reached(group: string, topic: string, offset: number): Promise<void> {
  const arrived = async (): Promise<boolean> => (await progress(group, topic))[1] === String(offset);
  await until(arrived, `${group} stands at ${offset}`, patienceMs);
}

let shared: Promise<Client> | undefined;

/** DefaultMQAdminExt, for what mqadmin has no command for. */
async function admin(): Promise<Client> {
  shared ??= (await driver()).admin((await target()).namesrv);
  return shared;
}

/** QUERY_CONSUMER_OFFSET (14). */
async function offsetOf(consumerGroup: string, { topic, queueId }: Queue): Promise<{ code: number; header: number }> {
  using client = await RawClient.connect((await target()).broker);
  const { code, ext } = await client.ask(14, { ext: { consumerGroup, topic, queueId: String(queueId) } });
  return { code, header: Number(ext['offset']) };
}

async function storedAt(queue: Queue, offset: number): Promise<number | undefined> {
  const reader = await (await driver()).pullConsumer((await target()).namesrv, unique('group'));
  const { messages } = await reader.pull(queue, '*', offset, 1);
  await reader.close();
  return messages[0]?.storeTimestamp;
}

for (const kind of [javaMembers, ownMembers])
  describe(`mqadmin of 4.9.7 and a group with ${kind.name}`, () => {
    let member: Member;
    let clientId: string;
    const group = unique('group');
    let topic: string;
    let sent: SendResult[];

    before(async () => {
      ({ topic, sent } = await filledTopic(10));
      member = await kind.join((await target()).namesrv, group, topic);
      await until(() => member.received.length === 10, 'the backlog is consumed', patienceMs);
      await reached(group, topic, 10);
    });

    after(() => member.close());

    it('consumerConnection shows the client, its subscription and how it consumes', async () => {
      const lines = await mqadmin(await target(), 'consumerConnection', '-g', group);
      const row = (lines[1] ?? '').split(/ +/);
      clientId = row[0] ?? '';
      assert.match(row[1] ?? '', /^127\.0\.0\.1:\d+$/);
      assert.deepEqual(row.slice(2), [kind.language, 'V4_9_7']);
      const subscribed = lines.slice(lines.findIndex((line) => line.startsWith('#Topic')) + 1, -3);
      assert.deepEqual(
        subscribed.map((line) => line.split(/ +/)).sort(),
        [
          [topic, '*'],
          [`%RETRY%${group}`, '*'],
        ].sort(),
      );
      assert.deepEqual(lines.slice(-3), [
        'ConsumeType: CONSUME_PASSIVELY',
        'MessageModel: CLUSTERING',
        'ConsumeFromWhere: CONSUME_FROM_FIRST_OFFSET',
      ]);
    });

    it('consumerStatus shows what the client says of itself, with its threads on demand', async () => {
      const lines = await mqadmin(await target(), 'consumerStatus', '-g', group, '-i', clientId, '-s');
      const text = lines.join('\n');
      for (const part of ['#Consumer Properties#', '#Consumer Subscription#', '#Consumer Offset#', '#Consumer jstack#'])
        assert.ok(text.includes(part), `${part}\n${text}`);
      const row = lines.find((line) => line.startsWith(topic) && line.includes('broker-a')) ?? '';
      assert.deepEqual(columns(row).slice(0, 4), [topic, 'broker-a', '0', '10']);
      assert.match(text.slice(text.indexOf('#Consumer jstack#')), /^#Consumer jstack#\n.*\S/s);
    });

    it('the admin library asks the clients for their offsets', async () => {
      const served = await target();
      const byClient = await (await admin()).call('getConsumeStatus', topic, group, '');
      assert.deepEqual(byClient, { [clientId]: { [`${topic}@broker-a@0`]: 10 } });
      assert.deepEqual(await (await admin()).call('getConsumeStatus', topic, group, 'nobody'), {});
      const nobody = await failure((await admin()).call('getConsumeStatus', topic, unique('nobody'), ''));
      assert.equal(nobody.code, 1, served.kind);
    });

    it('queryMsgById hands one message to the client, at once', async () => {
      const before = member.received.length;
      const ids = ['-i', sent[3]?.offsetMsgId ?? ''];
      const lines = await mqadmin(await target(), 'queryMsgById', ...ids, '-g', group, '-d', clientId);
      assert.match(
        lines.join(),
        /^ConsumeMessageDirectlyResult \[order=false, autoCommit=true, consumeResult=CR_SUCCESS,/,
      );
      assert.equal(member.received.length, before + 1);
      assert.equal(member.received.at(-1)?.body.toString(), `${topic} 3`);
      assert.deepEqual(await progress(group, topic), ['10', '10']);
    });

    it('resetOffsetByTime leads the client back, which then consumes from there again', async () => {
      const before = member.received.length;
      const args = ['-g', group, '-t', topic, '-s', '0', '-f', 'true'];
      const lines = await mqadmin(await target(), 'resetOffsetByTime', ...args);
      assert.match(lines[0] ?? '', /^rollback consumer offset by specified group/);
      assert.deepEqual(columns(lines[2]), ['broker-a', '0', '0']);
      await until(() => member.received.length >= before + 10, 'all is consumed once more', patienceMs);
      assert.deepEqual(
        member.received
          .slice(before)
          .map(({ queueOffset }) => queueOffset)
          .sort((a, b) => a - b),
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      );
      await reached(group, topic, 10);
    });
  });

describe('mqadmin of 4.9.7 and a group without members', () => {
  const group = unique('group');
  let topic: string;
  let queue: Queue;
  let sent: SendResult[];

  /** Five of ten messages are consumed. */
  before(async () => {
    ({ topic, queue, sent } = await filledTopic(5));
    const served = await target();
    const consumer = await javaMembers.join(served.namesrv, group, topic);
    await until(() => consumer.received.length === 5, 'five messages are consumed', patienceMs);
    await consumer.close();
    const producer = await (await driver()).producer(served.namesrv);
    for (const message of numbered(topic, 5, 5)) await producer.send(message, queue);
    await producer.close();
    await until(async () => (await progress(group, topic))[0] === '10', 'all is dispatched', patienceMs);
    assert.deepEqual(await progress(group, topic), ['10', '5']);
  });

  /** Broker, consumer, found and new offset of each queue, as mqadmin prints them when it resets by itself. */
  const rolledBack = (lines: string[]): string[] => columns(lines.find((line) => line.startsWith('broker-a'))).slice(2);

  it('resetOffsetByTime changes the offsets itself, and goes forward only when forced', async () => {
    const served = await target();
    const reset = async (...more: string[]): Promise<string[]> =>
      rolledBack(await mqadmin(served, 'resetOffsetByTime', '-g', group, '-t', topic, ...more));
    assert.deepEqual(await reset('-s', '0', '-f', 'true'), ['10', '5', '0', '0']);
    assert.deepEqual(await progress(group, topic), ['10', '0']);
    assert.deepEqual(await reset('-s', 'now', '-f', 'false'), ['10', '0', '10', '0']);
    assert.deepEqual(await progress(group, topic), ['10', '0']);
  });

  it('skipAccumulatedMessage goes to the end', async () => {
    const lines = await mqadmin(await target(), 'skipAccumulatedMessage', '-g', group, '-t', topic, '-f', 'true');
    assert.deepEqual(rolledBack(lines), ['10', '0', '10', '10']);
    assert.deepEqual(await progress(group, topic), ['10', '10']);
  });

  it('the admin library resets a group that never consumed', async () => {
    const fresh = unique('group');
    const time = Date.parse('2020-01-01');
    await (await admin()).call('resetOffsetByTimestampOld', fresh, topic, time, true);
    const { header } = await offsetOf(fresh, queue);
    assert.equal(header, 0);
    const refused = await failure((await admin()).call('resetOffsetByTimestamp', topic, unique('nobody'), time, true));
    assert.deepEqual([refused.code, /THe consumer group <.*> not exist/.test(refused.text)], [1, true]);
  });

  it('cloneGroupOffset gives another group the same offsets; so does the broker when it is asked to', async () => {
    const served = await target();
    await mqadmin(served, 'cloneGroupOffset', '-s', group, '-d', 'x_' + group, '-t', topic, '-o', 'true');
    assert.equal((await offsetOf(`x_${group}`, queue)).header, 10);
    await (await admin()).call('cloneGroupOffset', group, `y_${group}`, topic, true);
    assert.equal((await offsetOf(`y_${group}`, queue)).header, 10);
  });

  it('brokerConsumeStats lists the group among all', async () => {
    const lines = await mqadmin(await target(), 'brokerConsumeStats', '-b', (await target()).broker);
    const row = columns(lines.find((line) => line.startsWith(topic) && line.includes(` ${group} `)));
    assert.deepEqual(row.slice(0, 7), [topic, group, 'broker-a', '0', '10', '10', '0']);
    assert.match(lines.at(-1) ?? '', /^Diff Total: -?\d+$/);
  });

  it('queryConsumeTimeSpan tells when what is there, and what was consumed last, was stored', async () => {
    const [span] = (await (await admin()).call('queryConsumeTimeSpan', topic, group)) as Record<string, number>[];
    const stored = await Promise.all([0, 9].map((offset) => storedAt(queue, offset)));
    assert.deepEqual(
      [span?.['minTimeStamp'], span?.['maxTimeStamp'], span?.['consumeTimeStamp'], span?.['delayTime']],
      [stored[0], stored[1], stored[1], 0],
    );
  });

  it('queryCq shows entries of the queue', async () => {
    const served = await target();
    const lines = await mqadmin(served, 'queryCq', '-t', topic, '-q', '0', '-i', '8', '-b', served.broker);
    assert.ok(lines.includes('max: 10, min: 0'), lines.join('\n'));
    assert.deepEqual(
      lines.filter((line) => line.startsWith('idx: ')),
      ['idx: 8', 'idx: 9'],
    );
    const first = await mqadmin(served, 'queryCq', '-t', topic, '-q', '0', '-i', '0', '-c', '1', '-b', served.broker);
    const physical = Number.parseInt(sent[0]?.offsetMsgId.slice(16) ?? '', 16);
    assert.match(first.join('\n'), new RegExp(`physicOffset=${physical},.* tagsCode=0,.* eval=false`));
  });

  it('deleteSubGroup removes group and offsets, updateSubGroup makes it anew', async () => {
    const served = await target();
    const config = async (): Promise<string> => (await mqadmin(served, 'getConsumerConfig', '-g', group)).join('\n');
    assert.match(await config(), /retryMaxTimes += +16/);
    await mqadmin(served, 'deleteSubGroup', '-b', served.broker, '-g', group, '-r', 'true');
    assert.deepEqual(await offsetOf(group, queue), { code: 0, header: 0 });
    assert.doesNotMatch(await config(), /retryMaxTimes/);
    await mqadmin(served, 'updateSubGroup', '-b', served.broker, '-g', group, '-r', '3', '-q', '2');
    assert.match(await config(), /retryMaxTimes += +3/);
  });
});

describe('offset-moved events', () => {
  it('reach those who watch, such as startMonitoring', async () => {
    const [java, served] = [await driver(), await target()];
    const { queue } = await filledTopic(3);
    const watcher = await java.pushConsumer({ namesrv: served.namesrv, group: unique('watch'), topic: OFFSET_MOVED });
    const group = unique('lost');
    const reader = await java.pullConsumer(served.namesrv, group);
    await reader.filled(queue, 3);
    assert.equal((await reader.pull(queue, '*', 4711, 32)).status, 'OFFSET_ILLEGAL');
    const event = () => watcher.received.find(({ properties }) => properties['TAGS'] === group);
    await until(() => event() !== undefined, 'the event comes', patienceMs);
    assert.deepEqual(
      [event()?.body.toString(), event()?.properties['KEYS']],
      [
        `{"consumerGroup":"${group}","messageQueue":${JSON.stringify({
          brokerName: 'broker-a',
          queueId: 0,
          topic: queue.topic,
        })},"offsetNew":3,"offsetRequest":4711}`,
        group,
      ],
    );
    await reader.close();
    await watcher.close();
  });
});

describe('producerConnection of mqadmin 4.9.7', () => {
  it('shows the producers of a group', async () => {
    const [java, served] = [await driver(), await target()];
    const { topic, queue } = await filledTopic(1);
    const producerGroup = unique('producers');
    const producer = await java.producer(served.namesrv, { producerGroup });
    for (const message of numbered(topic, 1)) await producer.send(message, queue);
    const shown = async (): Promise<string> =>
      (await java.mqadmin('producerConnection', '-n', served.namesrv, '-g', producerGroup, '-t', topic)).out.trim();
    await until(async () => (await shown()) !== '', 'the producer is known', patienceMs);
    assert.match(await shown(), /^0001 +\S+ +127\.0\.0\.1:\d+ +JAVA +V4_9_7$/);
    await producer.close();
  });
});
