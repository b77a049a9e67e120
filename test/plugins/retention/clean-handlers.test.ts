import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dedicated } from '../../../config/topologies/dedicated.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { fillTopic, hours, makeOld, queueSpan, smallFiles } from '../../support/old-store.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';
import type { RawClient } from '../../support/raw-client.js';

function brokerOn(dir: string): Promise<TestBroker> {
  const options = { ...smallFiles, storePathRootDir: dir, deleteWhen: hours().never };
  return testBroker({ options, topology: dedicated });
}

async function ask(client: RawClient, code: number): Promise<void> {
  const answer = await client.ask(code);
  assert.deepEqual([answer.code, answer.remark], [ResponseCode.SUCCESS, null]);
}

/** Topic Old and a system topic lie wholly below the log's beginning, topic T does not. */
async function expired(broker: TestBroker, client: RawClient, dir: string): Promise<void> {
  await fillTopic(client, 5, 'Old');
  await fillTopic(client, 2, 'BenchmarkTest');
  await fillTopic(client, 40);
  await pullAll(client, 40);
  makeOld(dir, 2);
  await ask(client, RequestCode.DELETE_EXPIRED_COMMITLOG);
  const { watermarks } = broker.get(StoreState);
  await until(() => watermarks.get(Watermark.logMin) > 0, 'the log begins later');
  await until(() => broker.get(Queues).minOffset('Old', 0) === 5, 'nothing is left of it');
}

describe('cleaning queues without messages (306)', () => {
  it('removes their files, lets offsets go on, and touches neither system topics nor others', async () => {
    using dir = tempDir();
    await using broker = await brokerOn(dir.path);
    using client = await broker.connect();
    await expired(broker, client, dir.path);
    await ask(client, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE);
    assert.deepEqual(readdirSync(join(dir.path, 'consumequeue')).sort(), ['BenchmarkTest', 'T']);
    assert.deepEqual(await queueSpan(client, 'Old'), [5, 5]);
    assert.equal((await pull(client, { topic: 'Old', queueOffset: 5 })).code, ResponseCode.PULL_NOT_FOUND);
    const { header } = await send(client, { topic: 'Old', body: Buffer.from('new') });
    assert.equal(header.queueOffset, 5);
    const [message] = await pullAll(client, 1, { topic: 'Old', queueOffset: 5 });
    assert.deepEqual([message.queueOffset, message.body.toString()], [5, 'new']);
    await ask(client, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE);
    assert.deepEqual(await queueSpan(client, 'Old'), [5, 6], 'it has a message now');
  });

  it('is not undone by who looks at the old messages meanwhile', async () => {
    using dir = tempDir();
    await using broker = await brokerOn(dir.path);
    using client = await broker.connect();
    await expired(broker, client, dir.path);
    const queues = broker.get(Queues);
    const dropped = queues.dropExpired('Old', 0);
    assert.equal(queues.entry('Old', 0, 4), undefined, 'nothing below the first offset is read');
    assert.equal(await dropped, true);
    await send(client, { topic: 'Old', body: Buffer.from('new') });
    assert.equal((await pullAll(client, 1, { topic: 'Old', queueOffset: 5 }))[0].body.toString(), 'new');
  });

  it('forgets them with a restart', async () => {
    using dir = tempDir();
    {
      await using broker = await brokerOn(dir.path);
      using client = await broker.connect();
      await expired(broker, client, dir.path);
      await ask(client, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE);
    }
    await using broker = await brokerOn(dir.path);
    using client = await broker.connect();
    assert.deepEqual(await queueSpan(client, 'Old'), [0, 0]);
    assert.equal((await queueSpan(client, 'BenchmarkTest'))[1], 2);
    const moved = await pull(client, { topic: 'Old', queueOffset: 5 });
    assert.deepEqual([moved.code, moved.header.nextBeginOffset], [ResponseCode.PULL_OFFSET_MOVED, 0]);
  });
});

describe('cleaning topics that do not exist (316)', () => {
  it('removes their queues, and leaves topics and system topics alone', async () => {
    using dir = tempDir();
    await using broker = await brokerOn(dir.path);
    using client = await broker.connect();
    await fillTopic(client, 3, 'Orphan');
    await fillTopic(client, 3);
    await fillTopic(client, 3, 'BenchmarkTest');
    await pullAll(client, 3, { topic: 'Orphan' });
    await pullAll(client, 3);
    await broker.get(Topics).delete('Orphan');
    mkdirSync(join(dir.path, 'consumequeue', 'Foreign'));
    writeFileSync(join(dir.path, 'consumequeue', 'Foreign', 'x'), '');
    await ask(client, RequestCode.CLEAN_UNUSED_TOPIC);
    assert.equal(existsSync(join(dir.path, 'consumequeue', 'Orphan')), false);
    assert.deepEqual(await queueSpan(client), [0, 3]);
    assert.equal(existsSync(join(dir.path, 'consumequeue', 'BenchmarkTest', '0')), true);
    const rows = broker.get(StoreState).queueTable.count;
    await ask(client, RequestCode.CLEAN_UNUSED_TOPIC);
    assert.equal(broker.get(StoreState).queueTable.count, rows, 'what is gone takes no further place');
    const { header } = await send(client, { topic: 'Orphan' });
    assert.equal(header.queueOffset, 0, 'made anew it counts from 0');
  });
});
