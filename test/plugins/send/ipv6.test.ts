import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { LogReader } from '../../../plugins/commitlog/contract.js';
import { RequestCode, SysFlag } from '../../../protocol/codes.js';
import { encodeConsumerSendMsgBack } from '../../../protocol/headers/consumer-send-msg-back.js';
import { decodeOffsetMessageId } from '../../../protocol/message/message-id.js';
import { decodeRecord, type StoredMessage } from '../../../protocol/message/record.js';
import { RawClient } from '../../support/raw-client.js';
import { pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

const V6 = SysFlag.BORNHOST_V6 | SysFlag.STOREHOST_V6;
const LOOPBACK_V6 = '0:0:0:0:0:0:0:1';
const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));

async function view(client: RawClient, msgId: string): Promise<StoredMessage> {
  const { physicalOffset } = decodeOffsetMessageId(msgId);
  const { code, body } = await client.ask(RequestCode.VIEW_MESSAGE_BY_ID, { ext: { offset: String(physicalOffset) } });
  assert.equal(code, 0);
  return decodeRecord(body, 0);
}

async function number(client: RawClient, code: number, ext: Record<string, string>, field: string): Promise<number> {
  const answer = await client.ask(code, { ext: { topic: 'T', queueId: '0', ...ext } });
  assert.equal(answer.code, 0);
  return Number(answer.ext[field]);
}

/** Sends, and reads back in every way. */
async function assertReadable(client: RawClient, flags: number, idDigits: number, bornHost: string): Promise<void> {
  const { code, header } = await send(client, { body: Buffer.from('one'), properties: 'TAGS\u0001a' });
  assert.equal(code, 0);
  assert.equal(header.msgId.length, idDigits);
  await send(client, { body: Buffer.from('two'), properties: 'TAGS\u0001b' });
  const messages = await pullAll(client, 2);
  assert.deepEqual(
    messages.map(({ sysFlag, body }) => [sysFlag & V6, body.toString()]),
    [
      [flags, 'one'],
      [flags, 'two'],
    ],
  );
  assert.equal(messages[0].bornHost, `${bornHost}:${client.localPort}`);
  assert.equal(messages[0].msgId, header.msgId);
  assert.deepEqual((await pull(client, { subscription: 'b' })).messages, [messages[1]]);
  assert.deepEqual(await view(client, header.msgId), messages[0]);
  const stored = messages[0].storeTimestamp;
  assert.equal(await number(client, RequestCode.GET_EARLIEST_MSG_STORETIME, {}, 'timestamp'), stored);
  const after = { timestamp: String(stored + 3_600_000) };
  assert.equal(
    await number(client, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, { timestamp: String(stored) }, 'offset'),
    0,
  );
  assert.equal(await number(client, RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, after, 'offset'), 1);
}

/** A retry waits in its delay level and comes back; its records have the flags of the first. */
async function assertDelayed(broker: TestBroker, client: RawClient, flags: number, idDigits: number): Promise<void> {
  const { header } = await send(client, { topic: 'Delayed', body: Buffer.from('later') });
  const offset = decodeOffsetMessageId(header.msgId).physicalOffset;
  await pull(client, { topic: 'Delayed' });
  const ext = encodeConsumerSendMsgBack({ offset, group: 'G', delayLevel: 1, unitMode: false });
  assert.equal((await client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, { ext })).code, 0);
  const [back] = await pullAll(client, 1, { topic: '%RETRY%G' });
  const origin = await view(client, header.msgId);
  assert.deepEqual(
    [back.body.toString(), back.sysFlag & V6, back.msgId.length, back.bornHost],
    ['later', flags, idDigits, origin.bornHost],
  );
  const record = await broker.get(LogReader).record(back.physicalOffset);
  assert.equal(record?.length, back.totalBytes);
}

describe('IPv6 hosts (B33)', function () {
  before(function () {
    if (!hasIpv6) this.skip();
  });

  const options = { messageDelayLevel: '1s' };

  it('B33 a peer of IPv4 on a dual-stack socket is stored as IPv4', async () => {
    await using broker = await testBroker({
      options: { ...options, bindAddress: '::ffff:127.0.0.1', brokerIP1: '127.0.0.1' },
    });
    using client = await broker.connect();
    await assertReadable(client, 0, 32, '127.0.0.1');
    await assertDelayed(broker, client, 0, 32);
  });

  it('B33 a producer at ::1 and a broker that advertises IPv4: born host of 20 bytes, ids of 32 digits', async () => {
    await using broker = await testBroker({ options: { ...options, bindAddress: '::1', brokerIP1: '127.0.0.1' } });
    using client = await RawClient.connect(`::1:${broker.port}`);
    await assertReadable(client, SysFlag.BORNHOST_V6, 32, `[${LOOPBACK_V6}]`);
    await assertDelayed(broker, client, SysFlag.BORNHOST_V6, 32);
  });

  for (const brokerIP1 of ['::1', '[::1]'])
    it(`B33 brokerIP1=${brokerIP1}: both hosts of 20 bytes, ids of 56 digits`, async () => {
      await using broker = await testBroker({ options: { ...options, bindAddress: '::1', brokerIP1 } });
      using client = await RawClient.connect(`::1:${broker.port}`);
      await assertReadable(client, V6, 56, `[${LOOPBACK_V6}]`);
      await assertDelayed(broker, client, V6, 56);
      const { header } = await send(client);
      const id = decodeOffsetMessageId(header.msgId);
      assert.deepEqual([id.host, id.port], [LOOPBACK_V6, broker.port]);
    });

  it('B33 a broker at brokerIP1=::1 that producers of IPv4 reach: store host alone has 20 bytes', async () => {
    await using broker = await testBroker({
      options: { ...options, bindAddress: '::ffff:127.0.0.1', brokerIP1: '::1' },
    });
    using client = await broker.connect();
    await assertReadable(client, SysFlag.STOREHOST_V6, 56, '127.0.0.1');
    await assertDelayed(broker, client, SysFlag.STOREHOST_V6, 56);
  });

  it('B33 a batch over IPv6, and a store whose records have all four forms, over a restart', async () => {
    using dir = tempDir();
    const forms = [
      { bindAddress: '::1', brokerIP1: '::1' },
      { bindAddress: '::1', brokerIP1: '127.0.0.1' },
      { bindAddress: '127.0.0.1', brokerIP1: '::1' },
      { bindAddress: '127.0.0.1', brokerIP1: '127.0.0.1' },
    ];
    const ids: string[] = [];
    for (const form of forms) {
      await using broker = await testBroker({ options: { ...form, storePathRootDir: dir.path } });
      using client = await RawClient.connect(`${form.bindAddress}:${broker.port}`);
      const inner = Buffer.alloc(27);
      inner.writeInt32BE(27, 0);
      inner.writeInt32BE(3, 16);
      inner.write('abc', 20);
      const batch = {
        code: RequestCode.SEND_BATCH_MESSAGE,
        body: Buffer.concat([inner.subarray(0, 25), inner.subarray(0, 25)]),
      };
      batch.body.writeInt32BE(25, 0);
      batch.body.writeInt32BE(25, 25);
      const { code, header } = await send(client, batch);
      assert.equal(code, 0);
      ids.push(...header.msgId.split(','));
      const all = await pullAll(client, ids.length);
      assert.deepEqual(
        all.map(({ msgId }) => msgId),
        ids,
      );
      for (const id of ids) assert.equal((await view(client, id)).body.toString(), 'abc');
    }
    assert.deepEqual(
      ids.map((id) => id.length),
      [56, 56, 32, 32, 56, 56, 32, 32],
    );
  });
});
