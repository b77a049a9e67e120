import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { ResponseCode } from '../../../protocol/codes.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const SYNC = { flushDiskType: 'SYNC_FLUSH', mappedFileSizeCommitLog: 1 << 20 } as const;
const bodyOf = (index: number): string => `message ${index}`;

/** The power goes off under a running broker; what is left of it is ended. Returns the disk that the next one finds. */
async function cutPower(broker: TestBroker, disk: LossyFiles): Promise<LossyFiles> {
  const after = disk.restart('everything');
  await broker.stop().catch(() => undefined);
  return after;
}

describe('bug reports of 4.9 about SYNC_FLUSH', () => {
  for (const again of [false, true]) {
    const how = again ? 'a restart and then a power cut' : 'a power cut';
    it(`B01: a failed sync is no success, and the messages before it survive ${how}`, async () => {
      let disk = new LossyFiles();
      let broker = await testBroker({ options: SYNC, files: disk });
      const client = await broker.connect();
      for (let i = 0; i < 20; i++) assert.equal((await send(client, { body: Buffer.from(bodyOf(i)) })).code, 0);
      disk.fail({ operation: 'sync', path: 'commitlog', code: 'EIO' });
      const { code } = await send(client, { body: Buffer.from('X') });
      assert.ok(code === ResponseCode.FLUSH_DISK_TIMEOUT || code === ResponseCode.SERVICE_NOT_AVAILABLE, `${code}`);
      assert.equal((await send(client)).code, ResponseCode.SERVICE_NOT_AVAILABLE);
      client.reset();
      let acked = 20;
      if (again) {
        const next = disk.killed();
        await broker.stop().catch(() => undefined);
        disk = next;
        broker = await testBroker({ options: SYNC, files: disk });
        using second = await broker.connect();
        const sent = await send(second, { body: Buffer.from(bodyOf(20)) });
        assert.equal(sent.code, 0);
        acked = sent.header.queueOffset + 1;
      }
      await using last = await testBroker({ options: SYNC, files: await cutPower(broker, disk) });
      using reader = await last.connect();
      await send(reader, { queueId: 3, body: Buffer.from('makes the topic') });
      const bodies = (await pullAll(reader, acked)).map(({ body }) => body.toString());
      assert.deepEqual(
        bodies.filter((body) => body !== 'X'),
        Array.from({ length: again ? 21 : 20 }, (_, i) => bodyOf(i)),
      );
    });
  }

  it('B02: what a power cut can take is not shown, and the next message with its offset is', async () => {
    const disk = new LossyFiles();
    const options = { ...SYNC, syncFlushTimeout: 500 };
    const broker = await testBroker({ options, files: disk, without: ['flush'] });
    const client = await broker.connect();
    const first = send(client, { body: Buffer.from('M1') }).catch(() => undefined);
    const { watermarks } = broker.get(StoreState);
    await until(() => watermarks.get(Watermark.appended) > 0, 'M1 is written');
    assert.equal((await pull(client)).code, ResponseCode.PULL_NOT_FOUND);
    client.reset();
    const after = await cutPower(broker, disk);
    await first;

    await using second = await testBroker({ options, files: after });
    using reader = await second.connect();
    const sent = await send(reader, { body: Buffer.from('M2') });
    assert.deepEqual([sent.code, sent.header.queueOffset], [0, 0]);
    assert.deepEqual(
      (await pullAll(reader, 1)).map(({ body }) => body.toString()),
      ['M2'],
    );
  });
});
