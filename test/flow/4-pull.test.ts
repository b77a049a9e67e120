import assert from 'node:assert/strict';
import { Offsets } from '../../plugins/offsets/contract.js';
import { PullSysFlag, RequestCode } from '../../protocol/codes.js';
import type { RawClient } from '../support/raw-client.js';
import { heartbeat, pull, pullAsk, pullAll, pulledOf, send, subscriptionTo } from '../support/send-pull.js';
import { testBroker, type TestBroker } from '../support/test-broker.js';

const TOPIC = 'Orders';
const GROUP = 'shop';

/**
 * The tour, last part: a consumer pulls. It asks for what lies behind an offset of a queue; the broker (plugins/pull) reads units
 * from the queue, then their records from the log, and answers with the records as they are. When there is nothing it keeps the
 * request until something arrives.
 *
 * Before: 3-dispatch.
 */
describe('flow 4: the message is consumed', () => {
  let broker: TestBroker;
  let producer: RawClient;
  let consumer: RawClient;

  before(async () => {
    broker = await testBroker();
    producer = await broker.connect();
    consumer = await broker.connect();
  });

  after(async () => {
    producer[Symbol.dispose]();
    consumer[Symbol.dispose]();
    await broker.stop();
  });

  it('by a member of a group that said what it wants', async () => {
    await send(producer, { topic: TOPIC, body: Buffer.from('two apples'), properties: 'TAGS\u0001new' });
    await send(producer, { topic: TOPIC, body: Buffer.from('no pears'), properties: 'TAGS\u0001cancelled' });
    await pullAll(producer, 2, { topic: TOPIC });
    await heartbeat(consumer, GROUP, [subscriptionTo(TOPIC, { subString: 'new' })]);
    const pulled = await pull(consumer, { consumerGroup: GROUP, topic: TOPIC, sysFlag: 0, subVersion: 1 });
    assert.equal(pulled.code, 0);
    assert.deepEqual(
      pulled.messages.map(({ body }) => body.toString()),
      ['two apples'],
    );
    assert.equal(
      pulled.header.nextBeginOffset,
      2,
      'where to go on: behind what was looked at, not behind what was found',
    );
  });

  it('by a pull that waits for it', async () => {
    const sysFlag = PullSysFlag.SUSPEND | PullSysFlag.SUBSCRIPTION;
    const asked = consumer.ask(
      RequestCode.PULL_MESSAGE,
      pullAsk({ consumerGroup: GROUP, topic: TOPIC, queueOffset: 2, sysFlag }),
    );
    await send(producer, { topic: TOPIC, body: Buffer.from('three plums') });
    const { messages } = pulledOf(await asked);
    assert.deepEqual(
      messages.map(({ body }) => body.toString()),
      ['three plums'],
    );
  });

  it('and the group remembers how far it has come', async () => {
    const sysFlag = PullSysFlag.COMMIT_OFFSET | PullSysFlag.SUBSCRIPTION;
    const { code } = await pull(consumer, {
      consumerGroup: GROUP,
      topic: TOPIC,
      queueOffset: 3,
      commitOffset: 3,
      sysFlag,
    });
    assert.equal(code, 19, 'nothing more');
    assert.equal(broker.get(Offsets).query(GROUP, TOPIC, 0), 3);
  });
});
