import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ClientError, Producer, type ProducerOptions } from '../../client/index.js';
import { RequestCode, ResponseCode, SysFlag } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeHeartbeat } from '../../protocol/bodies/heartbeat.js';
import { decodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { decodeBatch } from '../../protocol/message/batch.js';
import { plainBody } from '../../protocol/message/body.js';
import { parseProperties } from '../../protocol/message/properties.js';
import { until } from '../support/until.js';
import { FakeBroker } from './support/fake-broker.js';
import { quick } from './support/quick.js';

const SEND = RequestCode.SEND_MESSAGE_V2;

function failsWith(code: string, pattern = /./): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ClientError, String(error));
    assert.equal(error.code, code);
    assert.match(error.line(), pattern);
    return true;
  };
}

describe('Producer', () => {
  let a: FakeBroker;
  let b: FakeBroker;
  let producer: Producer;

  async function begin(options: Partial<ProducerOptions> = {}): Promise<Producer> {
    producer = new Producer({ namesrvAddr: a.address, group: 'PG', periods: quick, ...options });
    await producer.start();
    return producer;
  }

  /** Sends to both brokers, in order of arrival. */
  const sends = (): { broker: string; request: Request }[] =>
    [a, b].flatMap((broker) => broker.asked(SEND).map((request) => ({ broker: broker.brokerName, request })));

  beforeEach(async () => {
    a = await FakeBroker.start('broker-a');
    b = await FakeBroker.start('broker-b');
    a.others.push(b);
    a.topics.set('T', { queues: 4 });
  });

  afterEach(async () => {
    await producer.stop();
    await Promise.all([a.close(), b.close()]);
  });

  it('sends what it was given and tells where it is', async () => {
    await begin();
    const result = await producer.send({
      topic: 'T',
      tag: 'red',
      keys: ['k1', 'k2'],
      body: 'hello 世界',
      properties: { colour: '红🎈' },
      flag: 7,
    });
    const request = a.asked(SEND)[0]!;
    const header = decodeSendMessageV2(request.ext);
    const properties = parseProperties(header.properties!);
    assert.equal(request.body.toString(), 'hello 世界');
    assert.equal(header.producerGroup, 'PG');
    assert.equal(header.topic, 'T');
    assert.equal(header.defaultTopic, 'TBW102');
    assert.equal(header.defaultTopicQueueNums, 4);
    assert.equal(header.flag, 7);
    assert.equal(header.sysFlag, 0);
    assert.equal(header.batch, false);
    assert.deepEqual(
      [properties.get('TAGS'), properties.get('KEYS'), properties.get('colour'), properties.get('UNIQ_KEY')],
      ['red', 'k1 k2', '红🎈', result.msgId],
    );
    assert.deepEqual(result, {
      status: 'SEND_OK',
      msgId: result.msgId,
      offsetMsgId: 'ID0',
      queue: { topic: 'T', brokerName: 'broker-a', queueId: header.queueId },
      queueOffset: 0,
    });
    assert.match(result.msgId, /^[0-9A-F]{32}$/);
  });

  it('uses each writable queue in turn', async () => {
    b.topics.set('T', { queues: 2, perm: 4 });
    await begin();
    for (let sent = 0; sent < 8; sent++) await producer.send({ topic: 'T', body: 'x' });
    const queueIds = a.asked(SEND).map((request) => decodeSendMessageV2(request.ext).queueId);
    assert.deepEqual([...queueIds.slice(0, 4)].sort(), [0, 1, 2, 3]);
    assert.deepEqual(queueIds.slice(4), queueIds.slice(0, 4));
    assert.equal(b.asked(SEND).length, 0);
  });

  for (const code of [
    ResponseCode.TOPIC_NOT_EXIST,
    ResponseCode.SERVICE_NOT_AVAILABLE,
    ResponseCode.SYSTEM_ERROR,
    ResponseCode.NO_PERMISSION,
  ])
    it(`tries another broker after code ${code}`, async () => {
      b.topics.set('T', { queues: 4 });
      a.on(SEND, { code, remark: 'not here' });
      await begin();
      for (let sent = 0; sent < 8; sent++) {
        const { queue } = await producer.send({ topic: 'T', body: 'x' });
        assert.equal(queue.brokerName, 'broker-b');
      }
      assert.ok(a.asked(SEND).length > 0);
    });

  for (const code of [ResponseCode.MESSAGE_ILLEGAL, ResponseCode.SYSTEM_BUSY, ResponseCode.FLOW_CONTROL])
    it(`fails at once after code ${code}`, async () => {
      for (const broker of [a, b]) broker.on(SEND, { code, remark: 'no' });
      b.topics.set('T', { queues: 4 });
      await begin();
      await assert.rejects(producer.send({ topic: 'T', body: 'x' }), (error: unknown) => {
        assert.equal((error as ClientError).responseCode, code);
        return failsWith('REFUSED', /no/)(error);
      });
      assert.equal(sends().length, 1);
    });

  it('gives up after the retries, naming brokers and the last problem', async () => {
    for (const broker of [a, b]) broker.on(SEND, { code: ResponseCode.SERVICE_NOT_AVAILABLE, remark: 'disk full' });
    b.topics.set('T', { queues: 4 });
    await begin();
    await assert.rejects(
      producer.send({ topic: 'T', body: 'x' }),
      failsWith('REFUSED', /topic T failed after 3 attempts .*broker-[ab], broker-[ab].*disk full/),
    );
    assert.equal(sends().length, 3);
  });

  it('tries another broker when the connection breaks, and keeps the message id', async () => {
    b.topics.set('T', { queues: 4 });
    a.on(SEND, 'reset');
    await begin();
    for (let sent = 0; sent < 8; sent++) await producer.send({ topic: 'T', body: `m${sent}` });
    const ids = [a, b].map(
      (broker) =>
        new Set(
          broker.asked(SEND).map((one) => parseProperties(decodeSendMessageV2(one.ext).properties!).get('UNIQ_KEY')),
        ),
    ) as [Set<string>, Set<string>];
    assert.equal(ids[1].size, 8);
    for (const id of ids[0]) assert.ok(ids[1].has(id), 'the retry carried another id');
    assert.ok(ids[0].size > 0);
  });

  it('keeps to the time for all attempts together', async () => {
    a.on(SEND, 'silent');
    await begin({ retries: 5 });
    await assert.rejects(producer.send({ topic: 'T', body: 'x' }, { timeoutMs: 150 }), failsWith('REQUEST_TIMEOUT'));
    assert.ok(a.asked(SEND).length <= 2, `${a.asked(SEND).length} attempts`);
  });

  for (const [code, status] of [
    [ResponseCode.FLUSH_DISK_TIMEOUT, 'FLUSH_DISK_TIMEOUT'],
    [ResponseCode.SLAVE_NOT_AVAILABLE, 'SLAVE_NOT_AVAILABLE'],
    [ResponseCode.FLUSH_SLAVE_TIMEOUT, 'FLUSH_SLAVE_TIMEOUT'],
  ] as const) {
    const answer = { code, ext: { msgId: 'I', queueId: '1', queueOffset: '5' } };

    it(`returns ${status} without sending again`, async () => {
      a.on(SEND, answer);
      await begin();
      const result = await producer.send({ topic: 'T', body: 'x' });
      assert.equal(result.status, status);
      assert.equal(result.queueOffset, 5);
      assert.equal(a.asked(SEND).length, 1);
    });

    it(`sends again after ${status} when told to`, async () => {
      a.on(SEND, answer);
      await begin({ retryWhenNotStoredSafely: true, retries: 1 });
      assert.equal((await producer.send({ topic: 'T', body: 'x' })).status, status);
      assert.equal(a.asked(SEND).length, 2);
    });
  }

  it('creates a topic through TBW102, with no more queues than the broker allows', async () => {
    a.topics.set('TBW102', { queues: 2, perm: 7 });
    await begin();
    for (let sent = 0; sent < 4; sent++) await producer.send({ topic: 'New', body: 'x' });
    const queueIds = a.asked(SEND).map((request) => decodeSendMessageV2(request.ext).queueId);
    assert.deepEqual([...new Set(queueIds)].sort(), [0, 1]);
    a.topics.set('New', { queues: 8 });
    await until(async () => (await producer.queues('New')).length === 8, 'the real route replaced the template');
  });

  it('says that a topic does not exist, and what to do', async () => {
    await begin();
    await assert.rejects(
      producer.send({ topic: 'Nowhere', body: 'x' }),
      failsWith('NO_ROUTE', /Nowhere.*create the topic/),
    );
    a.topics.set('ReadOnly', { queues: 4, perm: 4 });
    await assert.rejects(
      producer.send({ topic: 'ReadOnly', body: 'x' }),
      failsWith('NO_ROUTE', /no queue that may be written/),
    );
  });

  it('sends a batch in one request', async () => {
    await begin();
    const result = await producer.sendBatch([
      { topic: 'T', tag: 'x', body: 'one' },
      { topic: 'T', keys: 'k', body: 'two' },
    ]);
    const request = a.asked(RequestCode.SEND_BATCH_MESSAGE)[0]!;
    assert.equal(decodeSendMessageV2(request.ext).batch, true);
    const inner = decodeBatch(request.body);
    assert.deepEqual(
      inner.map(({ body }) => Buffer.from(body).toString()),
      ['one', 'two'],
    );
    const ids = inner.map(({ properties }) => parseProperties(properties).get('UNIQ_KEY'));
    assert.equal(result.msgId, ids.join(','));
    assert.equal(parseProperties(inner[0]!.properties).get('TAGS'), 'x');
  });

  it('refuses batches that cannot be one', async () => {
    a.topics.set('U', { queues: 1 });
    await begin({ maxMessageBytes: 1000 });
    const batch = (...messages: Parameters<Producer['sendBatch']>[0]): Promise<unknown> => producer.sendBatch(messages);
    await assert.rejects(batch(), failsWith('ILLEGAL_MESSAGE', /at least one/));
    await assert.rejects(
      batch({ topic: 'T', body: '1' }, { topic: 'U', body: '2' }),
      failsWith('ILLEGAL_MESSAGE', /topic U/),
    );
    await assert.rejects(
      batch({ topic: 'T', body: '1' }, { topic: 'T', body: '2', waitStore: false }),
      failsWith('ILLEGAL_MESSAGE', /waitStore/),
    );
    const half = 'x'.repeat(500);
    await assert.rejects(
      batch({ topic: 'T', body: half }, { topic: 'T', body: half }),
      failsWith('ILLEGAL_MESSAGE', /limit is 1000/),
    );
    assert.equal(a.asked(RequestCode.SEND_BATCH_MESSAGE).length, 0);
  });

  it('compresses large bodies, unless that makes them larger', async () => {
    await begin();
    const plain = 'abc'.repeat(2000);
    const noise = randomBytes(5000);
    await producer.send({ topic: 'T', body: plain });
    await producer.send({ topic: 'T', body: noise });
    await producer.send({ topic: 'T', body: 'a'.repeat(4095) });
    const [first, second, third] = a.asked(SEND).map((request) => ({ request, ...decodeSendMessageV2(request.ext) }));
    assert.equal(first!.sysFlag, SysFlag.COMPRESSED | SysFlag.COMPRESSION_ZLIB);
    assert.ok(first!.request.body.length < 1000);
    assert.equal(plainBody(first!.request.body, first!.sysFlag).toString(), plain);
    assert.deepEqual([second!.sysFlag, third!.sysFlag], [0, 0]);
    assert.ok(second!.request.body.equals(noise));
  });

  it('B31 refuses what cannot be stored, and sends nothing', async () => {
    await begin();
    const refused = async (message: Parameters<Producer['send']>[0], code: string, pattern: RegExp): Promise<void> =>
      assert.rejects(producer.send(message), failsWith(code, pattern));
    await refused({ topic: 'T', body: '' }, 'ILLEGAL_MESSAGE', /empty/);
    await refused(
      { topic: 'T', body: Buffer.alloc(4 * 1024 * 1024 + 1) },
      'ILLEGAL_MESSAGE',
      /4194305 bytes, the limit is 4194304/,
    );
    await refused({ topic: '../x', body: 'x' }, 'ILLEGAL_ARGUMENT', /\.\.\/x/);
    await refused({ topic: 'x'.repeat(128), body: 'x' }, 'ILLEGAL_ARGUMENT', /longer/);
    await refused({ topic: 'SCHEDULE_TOPIC_XXXX', body: 'x' }, 'ILLEGAL_ARGUMENT', /belongs to the brokers/);
    await refused(
      { topic: 'T', body: 'x', properties: { DELAY: '3' } },
      'ILLEGAL_MESSAGE',
      /DELAY is used by the system/,
    );
    await refused({ topic: 'T', body: 'x', properties: { a: 'b\u0002c' } }, 'ILLEGAL_MESSAGE', /U\+0001/);
    await refused({ topic: 'T', body: 'x', properties: { a: ' ' } }, 'ILLEGAL_MESSAGE', /no value/);
    await refused(
      { topic: 'T', body: 'x', properties: { a: '汉'.repeat(11_000) } },
      'ILLEGAL_MESSAGE',
      /limit is 32767/,
    );
    assert.equal(sends().length, 0);
    assert.equal((await producer.send({ topic: 'T', body: Buffer.alloc(4 * 1024 * 1024, 1) })).status, 'SEND_OK');
  });

  it('keeps the id of a message object that is sent twice', async () => {
    await begin();
    const message = { topic: 'T', body: 'x' };
    const [first, second] = [await producer.send(message), await producer.send(message)];
    assert.equal(first.msgId, second.msgId);
    assert.notEqual((await producer.send({ ...message })).msgId, first.msgId);
  });

  it('sends to a chosen queue, once', async () => {
    await begin();
    const queue = { topic: 'T', brokerName: 'broker-a', queueId: 3 };
    assert.deepEqual((await producer.send({ topic: 'T', body: 'x' }, { queue })).queue, queue);
    const chosen = await producer.send({ topic: 'T', body: 'x' }, { selector: (queues) => queues[1]! });
    assert.equal(chosen.queue.queueId, 1);
    a.on(SEND, { code: ResponseCode.SYSTEM_ERROR });
    await assert.rejects(producer.send({ topic: 'T', body: 'x' }, { queue }), failsWith('REFUSED'));
    assert.equal(a.asked(SEND).length, 3);
    const outside = { ...queue, queueId: 99 };
    await assert.rejects(
      producer.send({ topic: 'T', body: 'x' }, { selector: () => outside }),
      failsWith('ILLEGAL_ARGUMENT', /none of its queues/),
    );
  });

  it('sends one-way', async () => {
    await begin();
    await producer.sendOneway({ topic: 'T', body: 'x', waitStore: false });
    await until(() => a.asked(SEND).length === 1, 'the message arrived');
    const [request] = a.asked(SEND);
    assert.equal(request!.oneway, true);
    assert.equal(parseProperties(decodeSendMessageV2(request!.ext).properties!).get('WAIT'), 'false');
  });

  it('tells the brokers who it is, and that it leaves', async () => {
    await begin();
    await producer.send({ topic: 'T', body: 'x' });
    await until(() => a.asked(RequestCode.HEART_BEAT).length > 0, 'a heartbeat');
    const beat = decodeHeartbeat(a.asked(RequestCode.HEART_BEAT)[0]!.body);
    assert.deepEqual(beat.producerDataSet, [{ groupName: 'PG' }]);
    assert.equal(beat.clientID, producer.clientId);
    await producer.stop();
    const left = a.asked(RequestCode.UNREGISTER_CLIENT);
    assert.deepEqual(
      left.map(({ ext }) => ({ ...ext })),
      [{ clientID: producer.clientId, producerGroup: 'PG' }],
    );
    await assert.rejects(producer.send({ topic: 'T', body: 'x' }), failsWith('NOT_RUNNING', /stopped/));
  });

  it('refuses names that no group can have', async () => {
    await begin();
    for (const group of ['', 'a b', 'x'.repeat(121), 'DEFAULT_PRODUCER', '../g'])
      assert.throws(() => new Producer({ namesrvAddr: a.address, group }), failsWith('ILLEGAL_ARGUMENT'), group);
  });
});
