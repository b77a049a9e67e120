import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import { encodeBatch, type BatchMessage } from '../../../protocol/message/batch.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pullAll, send, type Sent, type SendWish } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

function messages(count: number, bodyBytes = 10): BatchMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    flag: i,
    body: Buffer.alloc(bodyBytes, i + 1),
    properties: propertyText({ n: String(i) }),
  }));
}

/** A batch of three whose second record was changed at an offset. */
function broken(change: (bytes: Buffer, second: number) => void): Buffer {
  const bytes = encodeBatch(messages(3));
  change(bytes, bytes.readInt32BE(0));
  return bytes;
}

const brokenBodies: readonly (readonly [name: string, body: Buffer])[] = [
  ['no record at all', Buffer.alloc(0)],
  ['an inner size of 0', broken((bytes, at) => bytes.writeInt32BE(0, at))],
  ['a negative inner size', broken((bytes, at) => bytes.writeInt32BE(-1, at))],
  ['an inner size beyond the body', broken((bytes, at) => bytes.writeInt32BE(1 << 20, at))],
  ['an inner size that is one too small', broken((bytes, at) => bytes.writeInt32BE(bytes.readInt32BE(at) - 1, at))],
  ['a negative body length', broken((bytes, at) => bytes.writeInt32BE(-5, at + 16))],
  ['a body length beyond its record', broken((bytes, at) => bytes.writeInt32BE(4000, at + 16))],
  ['a body length that is one too large', broken((bytes, at) => bytes.writeInt32BE(11, at + 16))],
  ['a negative properties length', broken((bytes, at) => bytes.writeInt16BE(-1, at + 30))],
  ['a properties length that is one too large', broken((bytes, at) => bytes.writeInt16BE(4, at + 30))],
  ['a cut end', encodeBatch(messages(3)).subarray(0, -1)],
  ['a few bytes behind the last record', Buffer.concat([encodeBatch(messages(3)), Buffer.alloc(7)])],
];

describe('a batch', () => {
  let broker: TestBroker;
  let client: RawClient;
  let topics = 0;
  let topic = '';

  before(async () => {
    broker = await testBroker();
    client = await broker.connect();
  });

  beforeEach(() => {
    topic = `B${topics++}`;
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  const end = (): number => broker.get(StoreState).watermarks.get(Watermark.appended);
  const sendBatch = (wish: SendWish = {}): Promise<Sent> =>
    send(client, { code: RequestCode.SEND_BATCH_MESSAGE, topic, body: encodeBatch(messages(5)), ...wish });

  for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
    it(`becomes records that follow each other, answered with their ids (header form ${serialize})`, async () => {
      await send(client, { topic });
      const answer = await sendBatch({ serialize, properties: propertyText({ shared: 'yes' }), sysFlag: 0 });
      assert.equal(answer.code, 0);
      assert.equal(answer.serialize, serialize);
      assert.equal(answer.header.queueOffset, 1, 'of the first of them');
      const stored = (await pullAll(client, 6, { topic })).slice(1);
      assert.deepEqual(
        answer.header.msgId.split(','),
        stored.map(({ msgId }) => msgId),
      );
      assert.deepEqual(
        stored.map(({ queueOffset, flag, body, properties }) => [queueOffset, flag, body[0], properties]),
        [0, 1, 2, 3, 4].map((i) => [
          i + 1,
          i,
          i + 1,
          `n\u0001${i}\u0002shared\u0001yes\u0002CLUSTER\u0001DefaultCluster`,
        ]),
      );
      for (let i = 1; i < stored.length; i++)
        assert.equal(stored[i].physicalOffset, stored[i - 1].physicalOffset + stored[i - 1].totalBytes);
    });

  it('of one is answered with one id', async () => {
    const answer = await sendBatch({ body: encodeBatch(messages(1)) });
    const [{ msgId }] = await pullAll(client, 1, { topic });
    assert.equal(answer.header.msgId, msgId);
  });

  it('puts no second separator behind properties that end with one', async () => {
    const body = encodeBatch([
      { flag: 0, body: Buffer.from('a'), properties: 'x\u00011\u0002' },
      { flag: 0, body: Buffer.from('b'), properties: '' },
    ]);
    assert.equal((await sendBatch({ body })).code, 0);
    assert.deepEqual(
      (await pullAll(client, 2, { topic })).map(({ properties }) => properties),
      ['x\u00011\u0002CLUSTER\u0001DefaultCluster', 'CLUSTER\u0001DefaultCluster'],
    );
  });

  for (const [name, body] of brokenBodies)
    it(`with ${name} is refused with 13 and stores nothing of it (B34)`, async () => {
      await send(client, { topic });
      const before = end();
      const answer = await sendBatch({ body });
      assert.equal(answer.code, 13);
      assert.match(String(answer.remark), /batch/);
      assert.equal(end(), before);
      assert.equal((await send(client, { topic })).header.queueOffset, 1, 'no offset is burned');
    });

  for (const [name, properties] of [
    ['DELAY', propertyText({ DELAY: '1' })],
    ['TRAN_MSG', propertyText({ TRAN_MSG: 'true' })],
    ['TIMER_DELAY_SEC', propertyText({ TIMER_DELAY_SEC: '1' })],
  ] as const)
    it(`with ${name} is refused with 13`, async () => {
      const before = end();
      const answer = await sendBatch({ properties });
      assert.equal(answer.code, 13);
      assert.match(String(answer.remark), /a batch cannot be delayed or transactional/);
      assert.equal(end(), before);
    });

  it('with one message that asks for a delivery time is refused with 13; one that had its time, or only says so, is stored', async () => {
    const before = end();
    const inner = (properties: string) => ({ flag: 0, body: Buffer.from('TIMER_DELAY_SEC\u00011'), properties });
    const timed = propertyText({ KEYS: 'k', TIMER_DELAY_SEC: '1' });
    const answer = await sendBatch({ body: encodeBatch([inner(''), inner(timed)]) });
    assert.equal(answer.code, 13);
    assert.match(String(answer.remark), /asks for a delivery time/);
    assert.equal(end(), before);
    const had = propertyText({ TIMER_DELAY_SEC: '1', TIMER_OUT_MS: '5' });
    assert.equal((await sendBatch({ body: encodeBatch([inner(''), inner(had)]) })).code, 0);
  });

  it('with properties too long for one record together with the shared ones is refused whole', async () => {
    const body = encodeBatch([
      ...messages(2),
      { flag: 0, body: Buffer.from('x'), properties: `k\u0001${'v'.repeat(32_700)}` },
    ]);
    const before = end();
    const answer = await sendBatch({ body, properties: `s\u0001${'v'.repeat(100)}` });
    assert.equal(answer.code, 13);
    assert.equal(end(), before);
    assert.equal((await sendBatch({ body })).code, 0);
  });

  it('may be as large as one message', async () => {
    const fits = messages(4, (1 << 20) - 40);
    assert.equal((await sendBatch({ body: encodeBatch(fits) })).code, 0);
    assert.equal((await sendBatch({ body: encodeBatch([...fits, ...messages(8, 40)]) })).code, 13);
  });

  it('of many tiny messages, whose records are larger than its body, is refused rather than cut', async () => {
    const tiny = Array.from({ length: 60_000 }, () => ({ flag: 0, body: Buffer.from('x'), properties: '' }));
    const before = end();
    const answer = await sendBatch({ body: encodeBatch(tiny) });
    assert.equal(answer.code, 13);
    assert.equal(end(), before);
  });

  it('is split over no two segments, and refused when no segment holds it', async () => {
    await using small = await testBroker({ options: { mappedFileSizeCommitLog: 65_536 } });
    using other = await small.connect();
    const sendTo = (count: number): Promise<Sent> =>
      send(other, { code: RequestCode.SEND_BATCH_MESSAGE, body: encodeBatch(messages(count, 9000)) });
    for (let i = 0; i < 4; i++) assert.equal((await sendTo(5)).code, 0);
    const stored = await pullAll(other, 20);
    for (let i = 0; i < 20; i += 5) {
      const segments = stored.slice(i, i + 5).map(({ physicalOffset }) => Math.floor(physicalOffset / 65_536));
      assert.equal(new Set(segments).size, 1);
    }
    assert.equal((await sendTo(8)).code, 13);
    assert.equal((await sendTo(1)).header.queueOffset, 20);
  });
});
