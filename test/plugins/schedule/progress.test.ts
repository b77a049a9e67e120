import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreStatus } from '../../../plugins/commitlog/contract.js';
import { decodeDelayOffsetTable } from '../../../protocol/bodies/consumer-offset.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { encodeConsumerSendMsgBack } from '../../../protocol/headers/consumer-send-msg-back.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

describe('progress of the delay levels', () => {
  it('is not written before what it counts is synced', async () => {
    using dir = tempDir();
    const options = {
      storePathRootDir: dir.path,
      messageDelayLevel: '1s',
      flushDelayOffsetInterval: 10,
      flushIntervalCommitLog: 1500,
      flushCommitLogLeastPages: 0,
    };
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    const { header } = await send(client);
    const offset = Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8));
    // Makes the group.
    await pull(client);
    const ext = encodeConsumerSendMsgBack({ offset, group: 'G', delayLevel: 1, unitMode: false });
    assert.equal((await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext })).code, ResponseCode.SUCCESS);

    const [{ physicalOffset, totalBytes }] = await pullAll(client, 1, { topic: '%RETRY%G' });
    const status = broker.get(StoreStatus);
    const file = join(dir.path, 'config', 'delayOffset.json');
    const progress = (): number => (existsSync(file) ? (decodeDelayOffsetTable(readFileSync(file)).get(1) ?? 0) : 0);
    await until(() => progress() === 1, 'progress is written');
    assert.ok(status.flushed >= physicalOffset + totalBytes, 'the file counts a delivery that is not synced');
  });
});
