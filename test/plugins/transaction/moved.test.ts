import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { fillTopic, hours, makeOld, queueSpan, smallFiles } from '../../support/old-store.js';
import { pullAll } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';
import { COMMIT, end, ended, halfOf, sendHalf } from '../../support/transactions.js';
import { until } from '../../support/until.js';

const HALF = 'RMQ_SYS_TRANS_HALF_TOPIC';

describe('half messages in old files of the log', () => {
  it('are stored once more before the files go, and end by the coordinates of the send', async () => {
    using dir = tempDir();
    const options = { ...smallFiles, storePathRootDir: dir.path, deleteWhen: hours().never };
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    const open = halfOf(await sendHalf(client));
    const closed = halfOf(await sendHalf(client));
    assert.equal((await end(client, closed, COMMIT)).code, 0);
    await fillTopic(client, 150);
    makeOld(dir.path, 8);
    assert.equal((await client.ask(RequestCode.DELETE_EXPIRED_COMMITLOG)).code, 0);
    const { watermarks } = broker.get(StoreState);
    await until(() => watermarks.get(Watermark.logMin) > 0, 'old files are gone');
    const [copy] = await pullAll(client, 1, { topic: HALF, queueOffset: 2 });
    assert.ok(!copy.properties.includes('TRANSACTION_CHECK_TIMES'), 'counted a question that nobody asked');
    assert.equal((await end(client, open, COMMIT)).code, 1, 'the record of the send is gone');
    const place = { queueOffset: copy.queueOffset, physicalOffset: copy.physicalOffset };
    assert.equal((await end(client, place, COMMIT)).code, 0);
    const ops = await ended(broker);
    assert.deepEqual(ops.slice(-2), [0, 2]);
    const [, max] = await queueSpan(client);
    const [final] = await pullAll(client, 1, { queueOffset: max - 1 });
    assert.equal(final.body.toString(), 'body');
  });
});
