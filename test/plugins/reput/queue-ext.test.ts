import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Queues } from '../../../plugins/reput/contract.js';
import { PullSysFlag, RequestCode } from '../../../protocol/codes.js';
import { encodeConsumerSendMsgBack } from '../../../protocol/headers/consumer-send-msg-back.js';
import { javaHash } from '../../../protocol/message/hash.js';
import { isExtAddress, unitExtOffset } from '../../../store/consumequeue/ext-unit.js';
import { unitTagsCode } from '../../../store/consumequeue/unit.js';
import type { RawClient } from '../../support/raw-client.js';
import { pull, pullAll, pullAsk, pulledOf, send, type PullWish } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const HOLD = PullSysFlag.SUSPEND | PullSysFlag.SUBSCRIPTION;
const EXT = { enableConsumeQueueExt: true, mappedFileSizeConsumeQueueExt: 1000, plugins: ['sql92'] };

async function sendTagged(client: RawClient, from: number, count: number): Promise<void> {
  for (let i = from; i < from + count; i++)
    await send(client, { body: Buffer.from(`m${i}`), properties: `TAGS\u0001t${i % 3}\u0002a\u0001${i}` });
}

/** All bodies that a filter lets through, and how far the queue is read then. */
async function filtered(client: RawClient, wish: PullWish): Promise<[string[], number]> {
  const bodies: string[] = [];
  for (let queueOffset = 0; ;) {
    const { messages, header } = await pull(client, { ...wish, queueOffset });
    bodies.push(...messages.map(({ body }) => body.toString()));
    if (header.nextBeginOffset <= queueOffset) return [bodies, queueOffset];
    queueOffset = header.nextBeginOffset;
  }
}

const numbered = (count: number, wanted: (i: number) => boolean): string[] =>
  Array.from({ length: count }, (_, i) => i)
    .filter(wanted)
    .map((i) => `m${i}`);

async function assertFilters(client: RawClient, count: number): Promise<void> {
  await pullAll(client, count);
  assert.deepEqual(await filtered(client, { subscription: 't1' }), [numbered(count, (i) => i % 3 === 1), count]);
  assert.deepEqual(await filtered(client, { subscription: 't0 || t2' }), [numbered(count, (i) => i % 3 !== 1), count]);
  assert.deepEqual(await filtered(client, { subscription: 'other' }), [[], count]);
  assert.deepEqual(await filtered(client, { expressionType: 'SQL92', subscription: 'a > 10 AND a < 20' }), [
    numbered(count, (i) => i > 10 && i < 20),
    count,
  ]);
}

const isExt = (broker: TestBroker, offset: number): boolean =>
  isExtAddress(unitTagsCode(broker.get(Queues).entries('T', 0, offset, 1), 0));

describe('a broker with enableConsumeQueueExt', () => {
  it('filters by tags and by properties as one without, over many ext files', async () => {
    await using broker = await testBroker({ options: EXT });
    using client = await broker.connect();
    await sendTagged(client, 0, 130);
    await assertFilters(client, 130);
    const queues = broker.get(Queues);
    assert.deepEqual([isExt(broker, 0), isExt(broker, 129)], [true, true]);
    assert.equal(queues.entry('T', 0, 7)?.tagsCode, BigInt(javaHash('t1')));
    assert.equal(queues.extUnits('T', 0)(20)?.tagsLow, javaHash('t1'));
    assert.equal(queues.extUnits('T', 0)(21), undefined);
    assert.equal(queues.extUnits('None', 0)(0), undefined);
  });

  it('wakes a held pull for a tag that it waits for, and for no other', async () => {
    await using broker = await testBroker({ options: EXT });
    using producer = await broker.connect();
    using consumer = await broker.connect();
    await sendTagged(producer, 0, 3);
    await pullAll(producer, 3);
    const ask = pullAsk({ sysFlag: HOLD, subscription: 't2', queueOffset: 3 });
    const held = consumer.ask(RequestCode.PULL_MESSAGE, ask).then(pulledOf);
    await sendTagged(producer, 3, 3);
    const { messages, header } = await held;
    assert.deepEqual([messages.map(({ body }) => body.toString()), header.nextBeginOffset], [['m5'], 6]);
  });

  it('delivers delayed messages when they are due', async () => {
    await using broker = await testBroker({ options: { ...EXT, messageDelayLevel: '1s' } });
    using client = await broker.connect();
    const { header } = await send(client);
    await pull(client);
    const offset = Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8));
    const ext = encodeConsumerSendMsgBack({ offset, group: 'G', delayLevel: 1, unitMode: false });
    assert.equal((await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext })).code, 0);
    const schedule = (): Buffer => broker.get(Queues).entries('SCHEDULE_TOPIC_XXXX', 0, 0, 1);
    await until(() => schedule().length > 0, 'it waits in its level');
    assert.equal(unitExtOffset(schedule(), 0), 0);
    const due = Number(broker.get(Queues).entry('SCHEDULE_TOPIC_XXXX', 0, 0)?.tagsCode);
    const [delivered] = await pullAll(client, 1, { topic: '%RETRY%G' });
    assert.ok(delivered !== undefined && delivered.storeTimestamp >= due, `${delivered?.storeTimestamp} before ${due}`);
  });

  it('goes on over restarts with it off and on again: filters find the same', async () => {
    using dir = tempDir();
    const options = { ...EXT, storePathRootDir: dir.path };
    const plain = { ...options, enableConsumeQueueExt: false };
    let count = 0;
    for (const [setting, ext] of [
      [options, true],
      [plain, false],
      [options, true],
    ] as const) {
      await using broker = await testBroker({ options: setting });
      using client = await broker.connect();
      if (count > 0) await assertFilters(client, count);
      await sendTagged(client, count, 25);
      count += 25;
      await assertFilters(client, count);
      assert.equal(isExt(broker, count - 1), ext);
      assert.equal(isExt(broker, 0), true);
    }
  });

  it('gives every message to a filter by tags when its ext unit is missing, as 4.9 does', async () => {
    using dir = tempDir();
    const options = { ...EXT, storePathRootDir: dir.path };
    {
      await using broker = await testBroker({ options });
      using client = await broker.connect();
      await sendTagged(client, 0, 12);
      await pullAll(client, 12);
    }
    rmSync(join(dir.path, 'consumequeue_ext'), { recursive: true });
    {
      await using broker = await testBroker({ options: { ...options, enableConsumeQueueExt: false } });
      using client = await broker.connect();
      assert.deepEqual(await filtered(client, { subscription: 't1' }), [numbered(12, () => true), 12]);
      assert.equal(broker.get(Queues).entry('T', 0, 4)?.tagsCode, undefined);
    }
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    await assertFilters(client, 12);
    assert.ok(broker.lines.some(({ fields }) => String(fields['note']).includes('from the commit log')));
  });

  it('removes the ext files of a topic that is deleted', async () => {
    using dir = tempDir();
    await using broker = await testBroker({ options: { ...EXT, storePathRootDir: dir.path } });
    using client = await broker.connect();
    await sendTagged(client, 0, 70);
    await assertFilters(client, 70);
    assert.equal(readdirSync(join(dir.path, 'consumequeue_ext', 'T', '0')).length, 2);
    await client.ask(RequestCode.DELETE_TOPIC_IN_BROKER, { ext: { topic: 'T' } });
    assert.equal(existsSync(join(dir.path, 'consumequeue_ext', 'T')), false);
    await sendTagged(client, 0, 5);
    await assertFilters(client, 5);
    assert.equal(unitExtOffset(broker.get(Queues).entries('T', 0, 0, 1), 0), 0);
  });
});
