import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { ResponseCode } from '../../../protocol/codes.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { propertyText, pull, pullAll, send } from '../../support/send-pull.js';
import { testBroker } from '../../support/test-broker.js';

const SYNC = { flushDiskType: 'SYNC_FLUSH', mappedFileSizeCommitLog: 1 << 20 } as const;
const WITHOUT_WAIT = propertyText({ WAIT: 'false' });

describe('SYNC_FLUSH', () => {
  it('answers after the sync, and everything answered 0 survives a power cut', async () => {
    const disk = new LossyFiles();
    const broker = await testBroker({ options: SYNC, files: disk });
    using client = await broker.connect();
    for (let i = 0; i < 20; i++) assert.equal((await send(client, { body: Buffer.from(`m${i}`) })).code, 0);
    const after = disk.restart('everything');
    // The first broker finds its disk off.
    client.reset();
    await broker.stop().catch(() => undefined);

    await using second = await testBroker({ options: SYNC, files: after });
    using reader = await second.connect();
    await send(reader, { topic: 'T', queueId: 3, body: Buffer.from('makes the topic') });
    assert.deepEqual(
      (await pullAll(reader, 20)).map(({ body }) => body.toString()),
      Array.from({ length: 20 }, (_, i) => `m${i}`),
    );
  });

  it('answers 10 for what a failed sync left in doubt, and 14 for all that follows (B01)', async () => {
    const disk = new LossyFiles();
    await using broker = await testBroker({ options: SYNC, files: disk });
    using client = await broker.connect();
    for (let i = 0; i < 20; i++) assert.equal((await send(client)).code, 0);
    const { watermarks } = broker.get(StoreState);
    const flushed = watermarks.get(Watermark.flushed);

    disk.fail({ operation: 'sync', path: 'commitlog', code: 'EIO' });
    const doubtful = await send(client);
    assert.equal(doubtful.code, ResponseCode.FLUSH_DISK_TIMEOUT);
    assert.equal(doubtful.header.queueOffset, 20, 'it says where it would be');
    for (const properties of [undefined, WITHOUT_WAIT]) {
      const refused = await send(client, properties === undefined ? {} : { properties });
      assert.equal(refused.code, ResponseCode.SERVICE_NOT_AVAILABLE);
      assert.match(
        String(refused.remark),
        /^service not available now: a sync of .*commitlog failed; restart the broker/,
      );
    }
    assert.equal(watermarks.get(Watermark.flushed), flushed);
    assert.equal((await pullAll(client, 20)).length, 20, 'what was acknowledged stays readable');
  });

  it('shows a message only when it is synced, and does not hold back who does not wait (B02)', async () => {
    await using broker = await testBroker({ options: { ...SYNC, syncFlushTimeout: 150 }, without: ['flush'] });
    using client = await broker.connect();
    const waiting = send(client, { body: Buffer.from('waits') });
    const other = await send(client, { body: Buffer.from('does not'), properties: WITHOUT_WAIT });
    assert.equal(other.code, 0);
    assert.equal(other.header.queueOffset, 1);
    const pulled = await pull(client);
    assert.equal(pulled.code, ResponseCode.PULL_NOT_FOUND);
    assert.equal(pulled.header.maxOffset, 0);
    const { code, remark, header } = await waiting;
    assert.equal(code, ResponseCode.FLUSH_DISK_TIMEOUT);
    assert.equal(remark, null);
    assert.equal(header.queueOffset, 0);
  });

  it('refuses more than pendingSendsMax sends that wait, with a code that clients retry elsewhere', async () => {
    const options = { ...SYNC, syncFlushTimeout: 300, pendingSendsMax: 5 };
    await using broker = await testBroker({ options, without: ['flush'] });
    using client = await broker.connect();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(client)));
    const codes = answers.map(({ code }) => code).sort((a, b) => a - b);
    assert.deepEqual(codes, [2, 2, 2, 10, 10, 10, 10, 10]);
    assert.match(String(answers.find(({ code }) => code === 2)?.remark), /pendingSendsMax/);
  });

  it('syncs the rest when the broker stops', async () => {
    const disk = new LossyFiles();
    const options = { ...SYNC, flushDiskType: 'ASYNC_FLUSH', flushIntervalCommitLog: 60_000 } as const;
    const broker = await testBroker({ options, files: disk });
    using client = await broker.connect();
    await send(client, { body: Buffer.from('last words') });
    const { watermarks } = broker.get(StoreState);
    assert.equal(watermarks.get(Watermark.flushed), 0);
    await broker.stop();
    assert.equal(watermarks.get(Watermark.flushed), watermarks.get(Watermark.appended));
    await using second = await testBroker({ options, files: disk.restart('everything') });
    using reader = await second.connect();
    await send(reader, { queueId: 1 });
    assert.equal((await pullAll(reader, 1))[0].body.toString(), 'last words');
  });
});
