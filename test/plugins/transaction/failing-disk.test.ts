import assert from 'node:assert/strict';
import { MessageWriter } from '../../../plugins/commitlog/contract.js';
import { Decided } from '../../../plugins/transaction/contract.js';
import { ResponseCode } from '../../../protocol/codes.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { send } from '../../support/send-pull.js';
import { testBroker, type TestBrokerOptions } from '../../support/test-broker.js';
import { COMMIT, end, ended, halfOf, ROLLBACK, sendHalf, stored } from '../../support/transactions.js';
import { until } from '../../support/until.js';

const LOG = { mappedFileSizeCommitLog: 1 << 20 };
const FULL = { operation: 'write', path: 'commitlog', code: 'ENOSPC' } as const;
const UNAVAILABLE = ResponseCode.SERVICE_NOT_AVAILABLE;

function brokerOn(files: LossyFiles, options: TestBrokerOptions['options'] = {}) {
  return testBroker({ files, options: { ...LOG, ...options } });
}

describe('end of a transaction on a disk that fails', () => {
  it('whose message finds no room is refused with 14, and the transaction is as open as before', async () => {
    const files = new LossyFiles();
    await using broker = await brokerOn(files);
    using client = await broker.connect();
    const half = halfOf(await sendHalf(client));
    files.fail(FULL);
    const { code, remark } = await end(client, half, COMMIT);
    assert.equal(code, UNAVAILABLE);
    assert.match(String(remark), /^Service not available now\. the (memory store|broker's disk) is full/);
    assert.equal(broker.get(Decided).of(0), undefined);
    assert.deepEqual([await stored(broker, 'T'), await ended(broker)], [[], []]);
    assert.equal((await end(client, half, COMMIT)).code, 0);
    assert.equal((await stored(broker, 'T')).length, 1);
    assert.deepEqual(await ended(broker), [0]);
  });

  it('that is a rollback and finds no room is refused with 14, and open as before', async () => {
    const files = new LossyFiles();
    await using broker = await brokerOn(files);
    using client = await broker.connect();
    const half = halfOf(await sendHalf(client));
    files.fail(FULL);
    assert.equal((await end(client, half, ROLLBACK)).code, UNAVAILABLE);
    assert.equal(broker.get(Decided).of(0), undefined);
    assert.equal((await end(client, half, COMMIT)).code, 0);
    assert.equal((await stored(broker, 'T')).length, 1);
  });

  it('is done when its message is stored; the op record follows when there is room again, the message does not', async () => {
    const files = new LossyFiles();
    await using broker = await brokerOn(files);
    using client = await broker.connect();
    const half = halfOf(await sendHalf(client));
    files.fail({ ...FULL, nth: 2 });
    assert.equal((await end(client, half, COMMIT)).code, 0);
    assert.deepEqual([(await stored(broker, 'T')).length, await ended(broker)], [1, []]);
    assert.equal(broker.get(Decided).of(0), 'committed', 'no check may ask');
    assert.equal((await end(client, half, COMMIT)).code, 0, 'nobody waits for the disk');
    await until(async () => (await ended(broker)).length === 1, 'the end is noted');
    assert.equal((await stored(broker, 'T')).length, 1);
    assert.equal(broker.lines.filter(({ message }) => /could not be noted/.test(message)).length, 1);
  });

  it('ends with the broker when the log takes no more; what was not noted is said', async () => {
    const files = new LossyFiles();
    const broker = await brokerOn(files, { flushDiskType: 'ASYNC_FLUSH' });
    using client = await broker.connect();
    const [half, other] = [halfOf(await sendHalf(client)), halfOf(await sendHalf(client))];
    files.fail({ operation: 'write', path: 'commitlog', code: 'EIO', nth: 2, forever: true });
    assert.equal((await end(client, half, COMMIT)).code, 0);
    const { code, remark } = await end(client, other, COMMIT);
    assert.equal(code, UNAVAILABLE);
    assert.match(String(remark), /^Service not available now\. a write to .*commitlog failed; restart/);
    await broker.stop();
    assert.ok(broker.lines.some(({ message }) => /asked again after the next start/.test(message)));
  });

  it('is not acknowledged when the sync of its message failed', async () => {
    const files = new LossyFiles();
    await using broker = await brokerOn(files, { flushDiskType: 'SYNC_FLUSH' });
    using client = await broker.connect();
    const halves = [halfOf(await sendHalf(client)), halfOf(await sendHalf(client))];
    assert.equal((await end(client, halves[0], COMMIT)).code, 0);
    files.fail({ operation: 'sync', path: 'commitlog', code: 'EIO' });
    const { code, remark } = await end(client, halves[1], COMMIT);
    assert.equal(code, UNAVAILABLE);
    assert.match(String(remark), /sync of the commit log failed/);
    assert.equal((await end(client, halves[1], COMMIT)).code, UNAVAILABLE);
  });
});

describe('end of a transaction under SYNC_FLUSH', () => {
  const SYNC = { ...LOG, flushDiskType: 'SYNC_FLUSH' } as const;

  it('is on disk when it is answered: message and op survive a power cut', async () => {
    const files = new LossyFiles();
    const broker = await testBroker({ files, options: SYNC });
    using client = await broker.connect();
    const halves = [];
    for (let i = 0; i < 6; i++) halves.push(halfOf(await sendHalf(client, { body: Buffer.from(`m${i}`) })));
    for (const [i, half] of halves.entries())
      assert.equal((await end(client, half, i % 2 === 0 ? COMMIT : ROLLBACK)).code, 0);
    const after = files.restart('everything');
    client.reset();
    await broker.stop().catch(() => undefined);
    await using second = await testBroker({ files: after, options: SYNC });
    assert.deepEqual(
      (await stored(second, 'T')).map(({ body }) => body.toString()),
      ['m0', 'm2', 'm4'],
    );
    assert.deepEqual((await ended(second)).sort(), [0, 1, 2, 3, 4, 5]);
  });

  it('waits for the sync unless the half did not', async () => {
    await using broker = await testBroker({ options: { ...SYNC, syncFlushTimeout: 2000 }, without: ['flush'] });
    using client = await broker.connect();
    const quick = halfOf(await sendHalf(client, { properties: { WAIT: 'false' } }));
    assert.equal((await end(client, quick, COMMIT)).code, 0);
    const { queueOffset, physicalOffset } = await broker.get(MessageWriter).append({
      ...{ topic: 'RMQ_SYS_TRANS_HALF_TOPIC', queueId: 0, flag: 0, sysFlag: 0, bornTimestamp: 1 },
      ...{ bornAddress: Buffer.alloc(4, 1), bornPort: 1, reconsumeTimes: 0, preparedTransactionOffset: 0 },
      ...{ body: Buffer.from('waits'), waitStore: false },
      properties: 'PGROUP\u0001PG\u0002REAL_TOPIC\u0001T\u0002REAL_QID\u00010\u0002WAIT\u0001true',
    });
    const answers: string[] = [];
    const waits = end(client, { queueOffset, physicalOffset }, COMMIT).then(({ code }) =>
      answers.push(`waits ${code}`),
    );
    await until(async () => (await ended(broker)).length === 2, 'it is noted');
    await send(client, { properties: 'WAIT\u0001false' }).then(({ code }) => answers.push(`later ${code}`));
    await waits;
    assert.deepEqual(answers, ['later 0', 'waits 0']);
  });
});
