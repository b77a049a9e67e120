import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Topics } from '../../../plugins/topics/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import { encodeConsumerSendMsgBack } from '../../../protocol/headers/consumer-send-msg-back.js';
import { encodeBatch } from '../../../protocol/message/batch.js';
import { send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker } from '../../support/test-broker.js';

const ILLEGAL = 'The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$';
const batch = encodeBatch([{ flag: 0, body: Buffer.from('a'), properties: '' }]);

const bad: readonly (readonly [topic: string, remark: string | RegExp])[] = [
  ['../../x', ILLEGAL],
  ['/etc/x', ILLEGAL],
  ['a/b', ILLEGAL],
  ['a\\b', ILLEGAL],
  ['a.b', ILLEGAL],
  ['主题', ILLEGAL],
  ['a b', ILLEGAL],
  ['a\u0000b', ILLEGAL],
  ['x'.repeat(128), 'The specified topic is longer than topic max length.'],
  ['  ', 'The specified topic is blank.'],
  [`%RETRY%${'g'.repeat(121)}`, 'The specified topic is longer than topic max length.'],
];

describe('names in a send (B32)', () => {
  it('are refused with 1 when they are no topic, by every send code, and leave nothing anywhere', async () => {
    using dir = tempDir();
    const root = join(dir.path, 'deep', 'store');
    await using broker = await testBroker({ options: { storePathRootDir: root, mappedFileSizeCommitLog: 1 << 20 } });
    using client = await broker.connect();
    const topics = [...broker.get(Topics).all().keys()];
    for (const code of [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE])
      for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
        for (const [topic, remark] of bad) {
          const answer = await send(client, { code, topic, serialize, body: batch });
          assert.deepEqual([answer.code, answer.remark], [1, remark], `${code} ${JSON.stringify(topic)}`);
        }
    const empty = await send(client, { topic: '' });
    assert.equal(empty.code, 1);
    assert.deepEqual([...broker.get(Topics).all().keys()], topics);
    assert.deepEqual(readdirSync(dir.path), ['deep']);
    assert.deepEqual(readdirSync(join(dir.path, 'deep')), ['store']);
    assert.deepEqual(readdirSync(join(root, 'consumequeue')), []);
  });

  it('may have 127 characters, and all that 4.9 allows', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    for (const topic of ['x'.repeat(127), 'a-B_9%|', 'rmq_sys_x', 'BenchmarkTest', `%RETRY%${'g'.repeat(120)}`])
      assert.equal((await send(client, { topic })).code, 0, topic);
  });

  it('are refused when a send-back names a group that is none', async () => {
    await using broker = await testBroker();
    using client = await broker.connect();
    const { header } = await send(client);
    const offset = Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8));
    for (const group of ['../../../../tmp/x', 'g/h', 'g'.repeat(121), 'g'.repeat(256), ' ']) {
      const ext = encodeConsumerSendMsgBack({ offset, group, delayLevel: 0, unitMode: false });
      const answer = await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext });
      assert.equal(answer.code, 1, group);
      assert.match(String(answer.remark), /^The specified group /);
    }
    assert.deepEqual(
      [...broker.get(Topics).all().keys()].filter((topic) => topic.startsWith('%')),
      [],
    );
  });
});
