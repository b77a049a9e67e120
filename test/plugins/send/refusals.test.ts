import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { StoreState } from '../../../plugins/commitlog/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { Serialize } from '../../../protocol/command.js';
import type { TopicConfig } from '../../../protocol/bodies/topic-config.js';
import { LossyFiles } from '../../support/lossy-files.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pullAll, send, sendAsk, type SendWish } from '../../support/send-pull.js';
import { testBroker, type TestBroker, type TestBrokerOptions } from '../../support/test-broker.js';

interface Refusal {
  readonly name: string;
  readonly wish: SendWish;
  readonly code: number;
  /** 4.9.7's words, or ours where it has none. */
  readonly remark: RegExp;
}

const SEND_CODES = [RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE];
const FORBIDDEN = [
  'SCHEDULE_TOPIC_XXXX',
  'rmq_sys_wheel_timer',
  'RMQ_SYS_TRANS_HALF_TOPIC',
  'RMQ_SYS_TRANS_OP_HALF_TOPIC',
  'TRANS_CHECK_MAX_TIME_TOPIC',
  'SELF_TEST_TOPIC',
  'OFFSET_MOVED_EVENT',
];

const refusals: readonly Refusal[] = [
  ...FORBIDDEN.map((topic) => ({
    name: `topic ${topic}`,
    wish: { topic },
    code: 16,
    remark: new RegExp(`^Sending message to topic\\[${topic}\\] is forbidden\\.$`),
  })),
  {
    name: 'a queue id beyond both counts',
    wish: { queueId: 4 },
    code: 1,
    remark: /^request queueId\[4\] is illegal, .*T.* Producer: 127\.0\.0\.1:\d+$/,
  },
  {
    name: 'a DELAY that is no number',
    wish: { properties: propertyText({ DELAY: 'x' }) },
    code: 13,
    remark: /property DELAY/,
  },
  {
    name: 'a template that is not there',
    wish: { topic: 'Unknown', defaultTopic: 'NoSuchTemplate' },
    code: 17,
    remark: /^topic\[Unknown\] not exist, apply first please!/,
  },
  {
    name: 'a template that may not be inherited',
    wish: { topic: 'Unknown', defaultTopic: 'T' },
    code: 17,
    remark: /^topic\[Unknown\] not exist/,
  },
];

async function withBroker(wishes: TestBrokerOptions, work: (broker: TestBroker, client: RawClient) => Promise<void>) {
  await using broker = await testBroker(wishes);
  using client = await broker.connect();
  await work(broker, client);
}

describe('send is refused', () => {
  let broker: TestBroker;
  let client: RawClient;

  before(async () => {
    broker = await testBroker();
    client = await broker.connect();
    await send(client);
  });

  after(async () => {
    client[Symbol.dispose]();
    await broker.stop();
  });

  for (const { name, wish, code, remark } of refusals)
    it(`for ${name} with ${code}, and nothing is stored`, async () => {
      const { watermarks } = broker.get(StoreState);
      const end = watermarks.get(Watermark.appended);
      for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ]) {
        const answer = await send(client, { ...wish, serialize });
        assert.equal(answer.code, code);
        assert.match(String(answer.remark), remark);
        assert.equal(answer.serialize, serialize);
        assert.deepEqual({ ...answer.ext }, { MSG_REGION: 'DefaultRegion', TRACE_ON: 'true' });
      }
      assert.equal(watermarks.get(Watermark.appended), end);
      assert.equal((await send(client)).code, 0, 'and the next one is taken');
    });

  it('for a missing or unreadable field with 1, naming the field', async () => {
    for (const code of SEND_CODES)
      for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
        for (const [field, letter, value] of [
          ['queueId', 'e', undefined],
          ['queueId', 'e', 'many'],
          ['sysFlag', 'f', '99999999999'],
          ['topic', 'b', undefined],
          ['bornTimestamp', 'g', '-'],
        ] as const) {
          const { ask } = sendAsk({ code, serialize });
          const ext: Record<string, string> = { ...ask.ext };
          const name = code === RequestCode.SEND_MESSAGE ? field : letter;
          assert.ok(name in ext);
          if (value === undefined) delete ext[name];
          else ext[name] = value;
          const answer = await client.ask(code, { ...ask, ext });
          assert.equal(answer.code, 1);
          assert.match(String(answer.remark), new RegExp(field), `${code} ${serialize} ${value}`);
        }
  });
});

describe('send is refused by the broker as a whole', () => {
  it('before startAcceptSendRequestTimeStamp, with 1', async () => {
    const startAcceptSendRequestTimeStamp = 4_000_000_000_000;
    await withBroker({ options: { startAcceptSendRequestTimeStamp } }, async (_, client) => {
      const { code, remark } = await send(client);
      assert.equal(code, 1);
      assert.match(String(remark), /^broker unable to service, until /);
    });
    await withBroker({ options: { startAcceptSendRequestTimeStamp: 1 } }, async (_, client) => {
      assert.equal((await send(client)).code, 0);
    });
  });

  it('for ordered topics without the write permission, with 16; others are taken, as in 4.9', async () => {
    await withBroker({ options: { brokerPermission: 4 } }, async (broker, client) => {
      assert.equal((await send(client)).code, 0);
      await broker.get(Topics).put({ ...(broker.get(Topics).get('T') as TopicConfig), order: true });
      const { code, remark } = await send(client);
      assert.equal(code, 16);
      assert.equal(remark, 'the broker[127.0.0.1] sending message is forbidden');
    });
  });

  it('for unknown topics when topics are not made by sends, with 17; retry topics are made all the same', async () => {
    await withBroker({ options: { autoCreateTopicEnable: false } }, async (broker, client) => {
      const { code, remark } = await send(client, { topic: 'Unknown' });
      assert.equal(code, 17);
      assert.match(String(remark), /^topic\[Unknown\] not exist, apply first please!/);
      assert.equal(broker.get(Topics).get('Unknown'), undefined);
      assert.equal((await send(client, { topic: '%RETRY%G' })).code, 0);
      assert.deepEqual(
        [broker.get(Topics).get('%RETRY%G')?.writeQueueNums, broker.get(Topics).get('%RETRY%G')?.perm],
        [1, 6],
      );
    });
  });

  it('for retry topics of groups that may not be made, with 26', async () => {
    await withBroker({ options: { autoCreateSubscriptionGroup: false } }, async (_, client) => {
      const { code, remark } = await send(client, { topic: '%RETRY%Nobody' });
      assert.equal(code, 26);
      assert.match(String(remark), /^subscription group not exist, Nobody/);
    });
  });

  it('while it stops, with 14; what was taken before is answered', async () => {
    const options = { flushDiskType: 'SYNC_FLUSH', syncFlushTimeout: 800 } as const;
    const broker = await testBroker({ options, without: ['flush'] });
    using client = await broker.connect();
    const taken = send(client);
    await send(client, { properties: propertyText({ WAIT: 'false' }) });
    const stopped = broker.stop();
    const late = await send(client);
    assert.equal(late.code, 14);
    assert.match(String(late.remark), /shutting down/);
    assert.equal((await taken).code, 10);
    await stopped;
  });

  it('when the store is full, with 14 that names it; reading goes on', async () => {
    const files = new LossyFiles();
    await withBroker({ files, options: { mappedFileSizeCommitLog: 1 << 18 } }, async (_, client) => {
      await send(client, { topic: 'Other', body: Buffer.from('readable') });
      files.fail({ operation: 'write', path: 'commitlog', code: 'ENOSPC' });
      const answer = await send(client);
      assert.equal(answer.code, 14);
      assert.match(
        String(answer.remark),
        /^service not available now: the (memory store|broker's disk) is full .*(memoryStoreBytesMax|commitlog)/,
      );
      assert.equal((await pullAll(client, 1, { topic: 'Other' }))[0].body.toString(), 'readable');
    });
  });
});
