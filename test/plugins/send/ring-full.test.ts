import assert from 'node:assert/strict';
import { AppendGate, MessageWriter } from '../../../plugins/commitlog/contract.js';
import { Topics } from '../../../plugins/topics/contract.js';
import { ResponseCode } from '../../../protocol/codes.js';
import { newMessage } from '../../support/records.js';
import type { RawClient } from '../../support/raw-client.js';
import { heartbeat, pullAll, send, sendAsk, sentOf, subscriptionTo } from '../../support/send-pull.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';

/** The smallest ring there is. */
const TINY = { ringSlots: 64, ringBytes: 65_536 * 4, maxMessageSize: 1000 };

/** The ring takes nothing until the returned function is called. */
function closeRing(broker: TestBroker): () => void {
  const gate = broker.get(AppendGate);
  const reserve = gate.reserve.bind(gate);
  Object.assign(gate, { reserve: () => -1 });
  return () => void Object.assign(gate, { reserve });
}

/** Any settled append tells those who wait that there is room. */
async function makeRoom(broker: TestBroker): Promise<void> {
  assert.equal((await broker.get(MessageWriter).append(newMessage({ topic: 'Other' }))).status, 'stored');
}

function writeSends(client: RawClient, count: number, bodyBytes = 10) {
  const prepared = Array.from({ length: count }, (_, i) => {
    const { code, ask } = sendAsk({ body: Buffer.alloc(bodyBytes, i) });
    return client.prepare(code, ask);
  });
  client.write(Buffer.concat(prepared.map(({ frame }) => frame)));
  return Promise.all(prepared.map(({ answer }) => answer.then(sentOf)));
}

describe('sends that find the ring full', () => {
  it('wait and are stored in their order: more pipelined sends than the ring has slots', async () => {
    await using broker = await testBroker({ options: TINY });
    using client = await broker.connect();
    const answers = await writeSends(client, 1000);
    assert.ok(answers.every(({ code }) => code === 0));
    assert.deepEqual(
      answers.map(({ header }) => header.queueOffset),
      answers.map((_, i) => i),
    );
    const stored = await pullAll(client, 1000);
    assert.ok(
      stored.every(({ body }, i) => body.every((byte) => byte === (i & 0xff))),
      'with their own bytes',
    );
  });

  it('are answered 2 after waitTimeMillsInSendQueue, naming it; the broker serves on meanwhile', async () => {
    await using broker = await testBroker({ options: { ...TINY, waitTimeMillsInSendQueue: 100 } });
    using client = await broker.connect();
    await send(client);
    const open = closeRing(broker);
    const waiting = writeSends(client, 5);
    assert.equal((await heartbeat(client, 'G', [subscriptionTo('T')])).code, 0, 'on the same connection');
    for (const { code, remark } of await waiting) {
      assert.equal(code, ResponseCode.SYSTEM_BUSY);
      assert.match(
        String(remark),
        /\[TIMEOUT_CLEAN_QUEUE\]broker busy, start flow control for a while: .*100 ms \(waitTimeMillsInSendQueue\)/,
      );
    }
    open();
    assert.equal((await send(client)).header.queueOffset, 1, 'nothing of it was stored');
  });

  it('go on as soon as there is room, with the bytes they came with', async () => {
    await using broker = await testBroker({ options: { ...TINY, waitTimeMillsInSendQueue: 60_000 } });
    using client = await broker.connect();
    await send(client);
    const open = closeRing(broker);
    const waiting = writeSends(client, 200, 700);
    // More chunks come over the same socket buffer while they wait.
    for (let i = 0; i < 50; i++) await heartbeat(client, 'G', [subscriptionTo(`Topic${i}`)]);
    open();
    await makeRoom(broker);
    assert.ok((await waiting).every(({ code }) => code === 0));
    const stored = (await pullAll(client, 201)).slice(1);
    assert.ok(stored.every(({ body }, i) => body.length === 700 && body.every((byte) => byte === (i & 0xff))));
  });

  it('pause their connection only beyond sendWaitBytesMax, and resume it', async () => {
    const options = { ...TINY, waitTimeMillsInSendQueue: 60_000, sendWaitBytesMax: 20_000 };
    await using broker = await testBroker({ options });
    using client = await broker.connect();
    using other = await broker.connect();
    await send(client);
    const open = closeRing(broker);
    const waiting = writeSends(client, 100, 700);
    let heard = false;
    const held = heartbeat(client, 'G', [subscriptionTo('T')]).finally(() => (heard = true));
    assert.equal((await heartbeat(other, 'H', [subscriptionTo('T')])).code, 0, 'others are served');
    for (let i = 0; i < 5; i++) await heartbeat(other, 'H', [subscriptionTo('T')]);
    assert.equal(heard, false, 'it is not read: its heartbeat waits behind its sends');
    open();
    await makeRoom(broker);
    assert.ok((await waiting).every(({ code }) => code === 0));
    assert.equal((await held).code, 0);
    assert.equal((await send(client)).code, 0);
  });

  it('are forgotten when their client is gone, and the others are not', async () => {
    await using broker = await testBroker({ options: { ...TINY, waitTimeMillsInSendQueue: 60_000 } });
    using gone = await broker.connect();
    using client = await broker.connect();
    await send(client);
    const open = closeRing(broker);
    void writeSends(gone, 5).catch(() => undefined);
    await heartbeat(gone, 'G', [subscriptionTo('T')]);
    const waiting = writeSends(client, 3);
    await heartbeat(client, 'G', [subscriptionTo('T')]);
    gone.reset();
    await gone.closed;
    await heartbeat(client, 'G', [subscriptionTo('T')]);
    open();
    await makeRoom(broker);
    assert.deepEqual(
      (await waiting).map(({ header }) => header.queueOffset),
      [1, 2, 3],
    );
  });

  it('are answered each by itself: what one of them throws keeps no other', async () => {
    await using broker = await testBroker({ options: { ...TINY, waitTimeMillsInSendQueue: 60_000 } });
    using client = await broker.connect();
    await send(client);
    const open = closeRing(broker);
    const topics = broker.get(Topics);
    const createOnSend = topics.createOnSend.bind(topics);
    const failing: typeof createOnSend = (topic, ...rest) => {
      if (topic === 'Boom') throw new Error('no room for one more queue');
      return createOnSend(topic, ...rest);
    };
    const first = send(client, { body: Buffer.from('first') });
    const boom = send(client, { topic: 'Boom' });
    const last = send(client, { body: Buffer.from('last') });
    await heartbeat(client, 'G', [subscriptionTo('T')]);
    Object.assign(topics, { createOnSend: failing });
    open();
    await makeRoom(broker);
    assert.deepEqual([(await first).header.queueOffset, (await last).header.queueOffset], [1, 2]);
    const { code, remark } = await boom;
    assert.deepEqual([code, remark], [1, 'no room for one more queue']);
  });

  it('do not keep the broker from stopping', async () => {
    const broker = await testBroker({ options: { ...TINY, waitTimeMillsInSendQueue: 100 } });
    using client = await broker.connect();
    await send(client);
    closeRing(broker);
    const waiting = writeSends(client, 3);
    await heartbeat(client, 'G', [subscriptionTo('T')]);
    await broker.stop();
    assert.deepEqual(
      (await waiting).map(({ code }) => code),
      [2, 2, 2],
    );
  });
});
