import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { encodeConsumerSendMsgBack } from '../../../protocol/headers/consumer-send-msg-back.js';
import { encodeBatch } from '../../../protocol/message/batch.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pullAll, send } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

const LIMIT = 4_194_304;

/** Properties of so many bytes in all. */
function properties(bytes: number, unit = 'p'): string {
  const name = 'k\u0001';
  return name + unit.repeat((bytes - name.length) / Buffer.byteLength(unit));
}

describe('size limits of a send', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker({ options: { messageDelayLevel: '1s' } });
    client = await broker.connect();
    await send(client);
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  const end = (): number => broker.get(StoreState).watermarks.get(Watermark.appended);

  for (const [body, code] of [
    [0, 0],
    [1, 0],
    [LIMIT - 1, 0],
    [LIMIT, 0],
    [LIMIT + 1, 13],
  ] as const)
    it(`B31 body of ${body} bytes: ${code}`, async () => {
      const before = end();
      const answer = await send(client, { topic: 'Sizes', body: Buffer.alloc(body, 1) });
      assert.equal(answer.code, code);
      if (code === 0) return;
      assert.equal(
        answer.remark,
        'the message is illegal, maybe msg body or properties length not matched. ' +
          'msg body length limit 4194304B, msg properties length limit 32KB.',
      );
      assert.equal(end(), before);
      await assertNextParses();
    });

  for (const [name, text, code] of [
    ['32,700 ASCII bytes', properties(32_700), 0],
    // The broker adds `\u0002CLUSTER\u0001DefaultCluster`, 23 bytes.
    ['32,744 ASCII bytes, the most', properties(32_744), 0],
    ['32,745 ASCII bytes', properties(32_745), 13],
    ['32,768 ASCII bytes', properties(32_768), 13],
    ['16,384 CJK characters', properties(2 + 16_384 * 3, '汉'), 13],
    ['10,000 CJK characters', properties(2 + 10_000 * 3, '汉'), 0],
    ['10,914 CJK characters, 32,744 bytes, the most', properties(2 + 10_914 * 3, '汉'), 0],
    ['10,914 CJK characters and a letter', `${properties(2 + 10_914 * 3, '汉')}a`, 13],
    ['65,536 ASCII bytes, a length of 0 in 16 bits', properties(65_536), 13],
  ] as const)
    it(`B31 properties of ${name}: ${code}`, async () => {
      const before = end();
      const answer = await send(client, { topic: 'Sizes', properties: text });
      assert.equal(answer.code, code);
      if (code !== 0) assert.equal(end(), before, 'nothing is stored');
      await assertNextParses();
    });

  async function assertNextParses(): Promise<void> {
    const next = await send(client, { topic: 'After', body: Buffer.from('good') });
    const [after] = await pullAll(client, 1, { topic: 'After', queueOffset: next.header.queueOffset });
    assert.equal(after.body.toString(), 'good', 'the record behind it parses');
  }

  it('B31 keeps a message at the limit whole over a retry', async () => {
    const text = properties(30_000);
    const sent = await send(client, { topic: 'Big', body: Buffer.alloc(LIMIT, 7), properties: text });
    assert.equal(sent.code, 0);
    const offset = Number(Buffer.from(sent.header.msgId, 'hex').readBigInt64BE(8));
    const ext = encodeConsumerSendMsgBack({ offset, group: 'G', delayLevel: 1, unitMode: false });
    assert.equal((await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext })).code, 0);
    const [back] = await pullAll(client, 1, { topic: '%RETRY%G', consumerGroup: 'G' });
    assert.equal(back.body.length, LIMIT);
    assert.ok(back.body.every((byte) => byte === 7));
    assert.ok(back.properties.includes(text.slice(2)));
  });

  it('B31 answers a send-back whose properties grow too long, and stores nothing of it', async () => {
    const sent = await send(client, { topic: 'Big', properties: properties(32_740) });
    const offset = Number(Buffer.from(sent.header.msgId, 'hex').readBigInt64BE(8));
    const before = end();
    const ext = encodeConsumerSendMsgBack({ offset, group: 'G', delayLevel: 0, unitMode: false });
    const answer = await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext });
    assert.equal(answer.code, 1);
    assert.match(String(answer.remark), /tooLarge: properties of \d+ bytes do not fit a record/);
    assert.equal(end(), before);
    assert.equal((await send(client)).code, 0);
  });
});

describe('a body larger than a segment', () => {
  it('B31 is refused with 13 at once, alone and in a batch, and no segment is wasted', async () => {
    await using broker = await testBroker({ options: { mappedFileSizeCommitLog: 1 << 20 } });
    using client = await broker.connect();
    await send(client, { body: Buffer.from('first') });
    const answer = await send(client, { body: Buffer.alloc(2 << 20) });
    assert.equal(answer.code, 13);
    assert.match(String(answer.remark), /does not fit a segment of 1048576 bytes \(mappedFileSizeCommitLog\)/);
    const inner = { flag: 0, body: Buffer.alloc(700_000), properties: '' };
    const batch = await send(client, { code: RequestCode.SEND_BATCH_MESSAGE, body: encodeBatch([inner, inner]) });
    assert.equal(batch.code, 13);
    await send(client, { body: Buffer.from('second'), properties: propertyText({ a: 'b' }) });
    const { files, paths } = broker.get(StoreState);
    assert.equal(files.list(paths.commitLog).length, 1);
    assert.deepEqual(
      (await pullAll(client, 2)).map(({ body }) => body.toString()),
      ['first', 'second'],
    );
  });
});
