import assert from 'node:assert/strict';
import { systemClock } from '../../../kernel/base/clock.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { testBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const SMALL = { mappedFileSizeCommitLog: 1 << 20 };

describe('dispatching in a broker', () => {
  it('that cannot write its queues keeps what was sent, stops in time, and shows all of it after the next start', async function () {
    this.timeout(15_000);
    const disk = new LossyFiles();
    const broker = await testBroker({ files: disk, options: SMALL });
    {
      using client = await broker.connect();
      await send(client);
      await pullAll(client, 1);
      disk.fail({ operation: 'write', path: 'consumequeue', code: 'EIO', forever: true });
      for (let i = 0; i < 5; i++) assert.equal((await send(client)).code, 0);
      assert.equal((await pull(client)).messages.length, 1);
      assert.ok(broker.lines.some(({ message }) => message.startsWith('consume queues cannot be written')));
    }
    const begun = systemClock.monoMs();
    await broker.stop();
    assert.ok(systemClock.monoMs() - begun < 10_000);
    assert.ok(
      broker.lines.some(({ fields }) => /nothing behind offset \d+ could be dispatched/.test(String(fields['error']))),
    );

    await using second = await testBroker({ files: disk.restart('nothing'), options: SMALL });
    using client = await second.connect();
    await send(client, { queueId: 1 });
    assert.equal((await pullAll(client, 6)).length, 6);
  });

  it('that fails for a while catches up by itself', async () => {
    const disk = new LossyFiles();
    await using broker = await testBroker({ files: disk, options: SMALL });
    using client = await broker.connect();
    disk.fail({ operation: 'create', path: 'temporary', code: 'ENOSPC', nth: 2 });
    for (let i = 0; i < 5; i++) assert.equal((await send(client)).code, 0);
    assert.equal((await pullAll(client, 5)).length, 5);
  });

  it('tells arrivals with the end of the queue, once they can be pulled', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    const queues = broker.get(Queues);
    const told = new Map<string, number>();
    queues.onArrival((topic, queueId, maxOffset) => {
      assert.ok(queues.maxOffset(topic, queueId) >= maxOffset);
      assert.ok(queues.entry(topic, queueId, maxOffset - 1));
      told.set(`${topic}/${queueId}`, maxOffset);
    });
    for (let i = 0; i < 20; i++) await send(client, { queueId: i % 4, topic: `A${i % 3}` });
    await until(() => [...told.values()].reduce((sum, end) => sum + end, 0) === 20, 'all arrivals are told');
    assert.equal(told.size, 12);
  });

  it('counts from 0 after a topic was deleted and made again, and shows nothing of before', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    for (let i = 0; i < 5; i++) await send(client, { body: Buffer.from('old') });
    await pullAll(client, 5);
    const { code } = await client.ask(RequestCode.DELETE_TOPIC_IN_BROKER, { ext: { topic: 'T' } });
    assert.equal(code, 0);
    assert.equal((await pull(client)).code, 17);
    assert.equal((await send(client, { body: Buffer.from('new') })).header.queueOffset, 0);
    const [message] = await pullAll(client, 1);
    assert.equal(message.body.toString(), 'new');
    const { watermarks } = broker.get(StoreState);
    await until(() => watermarks.get(Watermark.dispatched) === watermarks.get(Watermark.appended), 'dispatched');
  });
});
