import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PushConsumer, type PushConsumerOptions, type ReceivedMessage } from '../../client/index.js';
import { readJson } from '../../protocol/bodies/json.js';
import { decodeHeartbeat } from '../../protocol/bodies/heartbeat.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

const bodies = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

describe('PushConsumer in a group', () => {
  let broker: FakeBroker;
  let folder: string;
  const consumers: PushConsumer[] = [];

  async function begin(seen: string[], options: Partial<PushConsumerOptions> = {}): Promise<PushConsumer> {
    const consumer = new PushConsumer({
      namesrvAddr: broker.address,
      group: 'G',
      from: 'first',
      periods: quick,
      offsetDir: folder,
      ...options,
    });
    consumers.push(consumer);
    await consumer.subscribe('T');
    await consumer.start(([message]) => {
      seen.push(message!.body.toString());
      return 'success';
    });
    return consumer;
  }

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'group-'));
    broker = await FakeBroker.start();
    broker.topics.set('T', { queues: 4 });
  });

  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((one) => one.stop()));
    await broker.close();
    await rm(folder, { recursive: true });
  });

  const spread = (): void =>
    [0, 1, 2, 3].forEach((queueId) => broker.fill('T', queueId, bodies(queueId * 10, queueId * 10 + 10)));

  it('shares the queues, without one left out or taken twice', async () => {
    spread();
    const seen: string[][] = [[], [], []];
    const members = [await begin(seen[0]!), await begin(seen[1]!), await begin(seen[2]!)];
    assert.equal(new Set(members.map(({ clientId }) => clientId)).size, 3);
    await until(() => members.every(({ queues }) => queues.length <= 2), 'each has its share');
    await until(
      () =>
        members
          .flatMap(({ queues }) => queues.map(({ queueId }) => queueId))
          .sort()
          .join() === '0,1,2,3',
      'each queue has one owner',
    );
    await until(() => new Set(seen.flat()).size === 40, 'all messages were consumed');
  });

  it('rebalances at once when the broker says that the group changed', async () => {
    const slow = { ...quick, rebalanceMs: 600_000 };
    const first = await begin([], { periods: slow });
    await until(() => first.queues.length === 4, 'it has all queues');
    const second = await begin([], { periods: slow });
    assert.equal(second.queues.length, 2);
    assert.equal(first.queues.length, 4);
    broker.server.push(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, { consumerGroup: 'other' }, true);
    broker.server.push(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, { consumerGroup: 'G' }, true);
    await until(() => first.queues.length === 2, 'it gave up half of them');
    await second.stop();
    broker.server.push(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, { consumerGroup: 'G' }, true);
    await until(() => first.queues.length === 4, 'it took them back');
  });

  it('keeps its queues when the list of members cannot be had, and takes them up when it was forgotten', async () => {
    const consumer = await begin([]);
    await until(() => consumer.queues.length === 4, 'it has all queues');
    const list = broker.server.script(RequestCode.GET_CONSUMER_LIST_BY_GROUP)!;
    broker.on(RequestCode.GET_CONSUMER_LIST_BY_GROUP, { code: ResponseCode.SYSTEM_ERROR, remark: 'no consumer' });
    const asked = broker.asked(RequestCode.GET_CONSUMER_LIST_BY_GROUP).length;
    await until(() => broker.asked(RequestCode.GET_CONSUMER_LIST_BY_GROUP).length > asked + 2, 'rebalances');
    assert.equal(consumer.queues.length, 4);
    broker.clientIds.clear();
    broker.clientIds.add('somebody else');
    broker.on(RequestCode.GET_CONSUMER_LIST_BY_GROUP, list);
    await until(() => broker.clientIds.has(consumer.clientId), 'it said hello again');
    await until(() => consumer.queues.length === 2, 'it shares with the other');
  });

  it('commits the offset of a queue that it gives up', async () => {
    spread();
    const seen: string[] = [];
    const periods = { ...quick, persistMs: 600_000 };
    const first = await begin(seen, { periods });
    await until(() => seen.length === 40, 'all were consumed');
    await begin([], { periods });
    await until(() => first.queues.length === 2, 'it gave up half');
    const given = [0, 1, 2, 3].filter((queueId) => !first.queues.some((queue) => queue.queueId === queueId));
    await until(
      () => given.every((queueId) => broker.committed.get(`T@${queueId}`) === 10),
      'the offsets of what it gave up',
    );
  });

  it('broadcasting: each member gets everything, keeps its own offsets, drops what fails', async () => {
    spread();
    const seen: [string[], string[]] = [[], []];
    const options = { model: 'broadcasting' as const };
    const first = await begin(seen[0], options);
    await begin(seen[1], { ...options, instanceName: 'second' });
    await until(() => seen[0].length === 40 && seen[1].length === 40, 'both got all');
    const beat = decodeHeartbeat(broker.asked(RequestCode.HEART_BEAT)[0]!.body).consumerDataSet[0]!;
    assert.equal(beat.messageModel, 'BROADCASTING');
    assert.deepEqual(
      beat.subscriptionDataSet.map(({ topic }) => topic),
      ['T'],
    );
    assert.equal(broker.asked(RequestCode.UPDATE_CONSUMER_OFFSET).length, 0);
    await first.stop();
    broker.fill('T', 0, ['new']);
    const again: string[] = [];
    await begin(again, options);
    await until(() => again.length === 1, 'it goes on where it was');
    assert.deepEqual(again, ['new']);
  });

  it('broadcasting: a failed message is dropped', async () => {
    broker.fill('T', 0, bodies(0, 3));
    const consumer = new PushConsumer({
      namesrvAddr: broker.address,
      group: 'G',
      from: 'first',
      model: 'broadcasting',
      periods: quick,
      offsetDir: folder,
    });
    consumers.push(consumer);
    await consumer.subscribe('T');
    let calls = 0;
    await consumer.start(() => (++calls > 0 ? 'later' : 'success'));
    await until(() => calls === 3, 'all were offered');
    await consumer.stop();
    assert.equal(broker.asked(RequestCode.CONSUMER_SEND_MSG_BACK).length, 0);
    const [host] = await import('node:fs/promises').then(({ readdir }) => readdir(folder));
    const text = await readFile(path.join(folder, host!, 'G', 'offsets.json'), 'utf8');
    assert.match(text, /\{"brokerName":"broker-a","queueId":0,"topic":"T"\}:3/);
  });

  it('gives messages one by one to a loop, and leaves the one at which the loop ends', async () => {
    broker.topics.set('T', { queues: 1 });
    broker.fill('T', 0, bodies(0, 10));
    const take = async (count: number): Promise<ReceivedMessage[]> => {
      const consumer = new PushConsumer({ namesrvAddr: broker.address, group: 'G', from: 'first', periods: quick });
      consumers.push(consumer);
      await consumer.subscribe('T');
      const taken: ReceivedMessage[] = [];
      for await (const message of consumer.messages()) {
        taken.push(message);
        if (taken.length === count) break;
      }
      return taken;
    };
    assert.deepEqual(
      (await take(4)).map(({ body }) => body.toString()),
      bodies(0, 4),
    );
    assert.equal(broker.committed.get('T@0'), 3);
    assert.deepEqual(
      (await take(3)).map(({ body }) => body.toString()),
      bodies(3, 6),
    );
    await until(() => broker.server.connections.size === 0, 'the connections were closed');
  });

  it('ends the loop when the consumer is stopped', async () => {
    const consumer = new PushConsumer({ namesrvAddr: broker.address, group: 'G', periods: quick });
    await consumer.subscribe('T');
    const loop = (async () => {
      for await (const message of consumer.messages()) assert.fail(`unexpected ${message.msgId}`);
    })();
    await until(() => broker.asked(RequestCode.PULL_MESSAGE).length > 0, 'it pulls');
    await consumer.stop();
    await loop;
  });

  it('answers what brokers ask', async () => {
    broker.fill('T', 0, ['x']);
    const seen: string[] = [];
    const consumer = await begin(seen);
    await until(() => seen.length === 1, 'consumed');
    const ask = async (
      code: number,
      ext: Record<string, string>,
      body?: Buffer,
    ): Promise<{ code: number; body: Buffer }> => {
      const opaque = broker.server.push(code, ext, false, body);
      await until(() => broker.server.answer(opaque) !== undefined, `an answer to ${code}`);
      return broker.server.answer(opaque)!;
    };
    const who = { consumerGroup: 'G', clientId: consumer.clientId };

    const info = await ask(RequestCode.GET_CONSUMER_RUNNING_INFO, who);
    const shown = readJson(info.body) as Record<string, Record<string, unknown>>;
    assert.equal(shown['properties']!['PROP_CONSUME_TYPE'], 'CONSUME_PASSIVELY');
    assert.equal(Object.keys(shown['mqTable']!).length, 4);
    assert.ok('T' in shown['statusTable']!);
    assert.equal((await ask(RequestCode.GET_CONSUMER_RUNNING_INFO, { ...who, consumerGroup: 'X' })).code, 1);

    const record = broker.queue('T', 0).records[0]!;
    const direct = await ask(RequestCode.CONSUME_MESSAGE_DIRECTLY, { ...who, brokerName: 'broker-a' }, record);
    assert.equal((readJson(direct.body) as Record<string, unknown>)['consumeResult'], 'CR_SUCCESS');
    assert.deepEqual(seen, ['x', 'x']);

    const status = await ask(RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, { topic: 'T', group: 'G' });
    assert.match(status.body.toString(), /\{\{"brokerName":"broker-a","queueId":0,"topic":"T"\}:1/);
    assert.equal((await ask(RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, {})).code, 3);
  });

  for (const [form, table] of [
    ['object keys', '{{"brokerName":"broker-a","queueId":0,"topic":"T"}:2}'],
    ['a list', '[{"brokerName":"broker-a","queueId":0,"topic":"T","offset":2}]'],
  ] as const)
    it(`moves its offsets when the broker resets them (${form})`, async () => {
      broker.fill('T', 0, bodies(0, 5));
      const seen: string[] = [];
      await begin(seen);
      await until(() => seen.length === 5, 'all were consumed');
      const ext = { topic: 'T', group: 'G', timestamp: '0', isForce: 'true' };
      broker.server.push(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, ext, true, Buffer.from(`{"offsetTable":${table}}`));
      await until(() => seen.length === 8, 'the last three came again');
      assert.deepEqual(seen.slice(5), bodies(2, 5));
      assert.ok(broker.commits('T', 0).includes(2));
    });
});
