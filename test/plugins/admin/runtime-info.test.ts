import assert from 'node:assert/strict';
import { Rates } from '../../../plugins/admin/rates.js';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeKVTable } from '../../../protocol/bodies/kv-table.js';
import { encodeConsumerSendMsgBack } from '../../../protocol/headers/consumer-send-msg-back.js';
import type { RawClient } from '../../support/raw-client.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

/** All keys of 4.9.7's getBrokerRuntimeInfo without a transient store pool. */
const KEYS = `
  brokerVersionDesc brokerVersion msgPutTotalYesterdayMorning msgPutTotalTodayMorning msgPutTotalTodayNow
  msgGetTotalYesterdayMorning msgGetTotalTodayMorning msgGetTotalTodayNow sendThreadPoolQueueSize
  sendThreadPoolQueueCapacity pullThreadPoolQueueSize pullThreadPoolQueueCapacity queryThreadPoolQueueSize
  queryThreadPoolQueueCapacity EndTransactionQueueSize EndTransactionThreadPoolQueueCapacity dispatchBehindBytes
  pageCacheLockTimeMills sendThreadPoolQueueHeadWaitTimeMills pullThreadPoolQueueHeadWaitTimeMills
  queryThreadPoolQueueHeadWaitTimeMills earliestMessageTimeStamp startAcceptSendRequestTimeStamp
  remainTransientStoreBufferNumbs remainHowManyDataToFlush commitLogDirCapacity bootTimestamp runtime
  putMessageEntireTimeMax putMessageTimesTotal putMessageFailedTimes putMessageSizeTotal putMessageDistributeTime
  putMessageAverageSize dispatchMaxBuffer getMessageEntireTimeMax putTps getFoundTps getMissTps getTotalTps
  getTransferedTps putLatency99 putLatency999 commitLogDiskRatio consumeQueueDiskRatio commitLogMinOffset
  commitLogMaxOffset`
  .trim()
  .split(/\s+/);

async function runtime(client: RawClient): Promise<Map<string, string>> {
  const { code, body } = await client.ask(RequestCode.GET_BROKER_RUNTIME_INFO);
  assert.equal(code, 0);
  return decodeKVTable(body);
}

describe('runtime information (28)', () => {
  it('has every key of 4.9.7, and its own of each level and log folder', async () => {
    using dir = tempDir();
    const options = { storePathRootDir: dir.path, mappedFileSizeCommitLog: 1 << 20, messageDelayLevel: '1s 2s' };
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    const table = await runtime(client);
    assert.deepEqual(
      KEYS.filter((key) => !table.has(key)),
      [],
    );
    assert.deepEqual(
      [...table.keys()].filter((key) => !KEYS.includes(key) && !key.startsWith('kernel.')),
      [`commitLogDiskRatio_${dir.path}/commitlog`],
    );
    assert.equal(table.get('brokerVersionDesc'), 'V4_9_7');
    assert.equal(table.get('brokerVersion'), '407');
    assert.equal(table.get('earliestMessageTimeStamp'), '-1');
    assert.match(String(table.get('commitLogDirCapacity')), /^Total : [\d.]+ \w+, Free : [\d.]+ \w+\.$/);
    const ratio = Number(table.get('commitLogDiskRatio'));
    assert.ok(ratio > 0 && ratio <= 1);
  });

  it('counts what was put and got', async () => {
    await using broker = await testBroker({ options: { mappedFileSizeCommitLog: 4096 } });
    using client = await broker.connect();
    const before = broker.options.memory ? await runtime(client) : assert.fail('in memory');
    assert.deepEqual(
      [before.get('putMessageTimesTotal'), before.get('putMessageAverageSize')],
      ['1', '0.0'],
      'never 0',
    );
    for (let i = 0; i < 5; i++) await send(client);
    assert.equal((await send(client, { body: Buffer.alloc(5000) })).code, 13);
    await pullAll(client, 5);
    assert.equal((await pull(client)).messages.length, 5);
    const table = await runtime(client);
    const [{ totalBytes, storeTimestamp }] = (await pull(client, { maxMsgNums: 1 })).messages;
    const numbers = (...keys: string[]): number[] => keys.map((key) => Number(table.get(key)));
    assert.deepEqual(numbers('putMessageTimesTotal', 'putMessageFailedTimes', 'msgPutTotalTodayNow'), [5, 1, 5]);
    assert.deepEqual(
      numbers('putMessageSizeTotal', 'putMessageAverageSize', 'commitLogMaxOffset', 'commitLogMinOffset'),
      [5 * totalBytes, totalBytes, 5 * totalBytes, 0],
    );
    assert.deepEqual(numbers('dispatchBehindBytes', 'earliestMessageTimeStamp'), [0, storeTimestamp]);
    assert.ok(Number(table.get('msgGetTotalTodayNow')) >= 10);
    assert.match(String(table.get('runtime')), /^\[ 0 days, 0 hours, 0 minutes, \d+ seconds \]$/);
    assert.match(String(table.get('putTps')), /^[\d.]+ [\d.]+ [\d.]+$/);
  });

  it('shows the progress of each delay level, and where its queue ends (4.9: buildRunningStats)', async () => {
    await using broker = await testBroker({ options: { messageDelayLevel: '1s 2s' } });
    using client = await broker.connect();
    const { header } = await send(client);
    const offset = Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8));
    const ext = encodeConsumerSendMsgBack({ offset, group: 'G', delayLevel: 1, unitMode: false });
    for (let i = 0; i < 2; i++) await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext });
    await until(async () => (await runtime(client)).get('scheduleMessageOffset_1') === '2,2', 'both are delivered');
  });
});

describe('rates', () => {
  it('are per second over the last 10 s, 1 min and 10 min, or as long as there are samples', () => {
    const rates = new Rates();
    assert.equal(rates.text(), '0.0 0.0 0.0');
    for (let second = 0; second <= 30; second++) rates.sample(second < 20 ? 0 : (second - 19) * 110);
    // The last ten samples grew by 110 each; of all thirty eleven did.
    assert.deepEqual([rates.over(10), rates.over(60)], [110, (11 * 110) / 30]);
    for (let second = 0; second < 1000; second++) rates.sample(1210);
    assert.equal(rates.text(), '0.0 0.0 0.0');
  });
});
