import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { Driver, type InMessage, type Queue } from './support/driver.js';
import { arrived, keysOf, numbered, unique } from './support/suite.js';
import { defaultKind, startTarget, type Target } from './support/target.js';
import { until } from '../support/until.js';

const COUNT = 8;
const V6_FLAGS = 16 | 32;
const options = { brokerIP1: '::1', brokerIP2: '::1', messageDelayLevel: '1s 1s 1s' };

/** What stays of a message wherever it is read. */
function essence({ body, msgId, sysFlag, storeSize, storeTimestamp, queueOffset, properties }: InMessage): unknown {
  return { body: body.toString(), msgId, sysFlag, storeSize, storeTimestamp, queueOffset, keys: properties['KEYS'] };
}

describe('B33 IPv6, with the client of 4.9.7', function () {
  this.timeout(180_000);
  let java: Driver | undefined;
  let served: Target | undefined;
  let storeDir = '';

  before(async function () {
    const here = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
    if (!here || defaultKind === 'jvm') return this.skip();
    storeDir = mkdtempSync(join(tmpdir(), 'mqkernel-ipv6-'));
    java = await Driver.start({ properties: ['-Djava.net.preferIPv6Addresses=true'] });
  });

  after(async () => {
    await java?.stop();
    await served?.stop();
    if (storeDir !== '') rmSync(storeDir, { recursive: true, force: true });
  });

  async function readAll(namesrv: string, queues: readonly Queue[], perQueue: number): Promise<InMessage[]> {
    assert.ok(java !== undefined);
    const reader = await java.pullConsumer(namesrv, unique('group'));
    const all: InMessage[] = [];
    for (const queue of queues) all.push(...(await reader.drain(queue, perQueue)));
    await reader.close();
    return all;
  }

  it('B33 sends, consumes, retries and finds messages by id and time; the real broker reads every record', async () => {
    assert.ok(java !== undefined);
    const target = (served = await startTarget({ kind: defaultKind, storeDir, options, bind: '::1' }));
    const topic = unique('ipv6');
    const group = unique('group');
    const producer = await java.producer(target.namesrv);
    const sent = numbered(topic, COUNT);
    const queue: Queue = { topic, brokerName: target.brokerName, queueId: 0 };
    const first = await producer.send(sent[0] ?? { topic, body: '' });
    assert.match(first.offsetMsgId, /^[0-9A-F]{56}$/);
    const reader = await java.pullConsumer(target.namesrv, unique('group'));
    await until(async () => (await reader.queues(topic).catch(() => [])).length > 0, 'the route is there', 20_000);
    const results = [];
    for (const message of sent.slice(1)) results.push(await producer.send(message, queue));

    // Each message is refused once, so that it comes back over its delay level.
    const consumer = await java.pushConsumer({ namesrv: target.namesrv, group, topic, refusals: 1 });
    const received = await arrived(consumer, 2 * COUNT);
    assert.deepEqual(keysOf(received.filter(({ reconsumeTimes }) => reconsumeTimes === 1)), keysOf(sent));
    for (const { sysFlag, bornHost, storeHost } of received) {
      assert.equal(sysFlag & V6_FLAGS, V6_FLAGS);
      assert.match(bornHost + storeHost, /0:0:0:0:0:0:0:1.*0:0:0:0:0:0:0:1/);
    }
    await consumer.close();

    const last = results[results.length - 1];
    const found = (await reader.call('viewMessage', last?.offsetMsgId)) as { msgId: string; queueOffset: number };
    assert.deepEqual([found.msgId, found.queueOffset], [last?.msgId, last?.queueOffset]);
    assert.equal(await reader.call('searchOffset', queue, 0), 0);
    const stored = await readAll(target.namesrv, [queue], results.length);
    const lastTime = stored.at(-1)?.storeTimestamp;
    const byTime = await reader.call('searchOffset', queue, lastTime);
    assert.equal(stored.find(({ queueOffset }) => queueOffset === byTime)?.storeTimestamp, lastTime);
    await Promise.all([producer.close(), reader.close()]);
    await target.stop();

    const real = (served = await startTarget({
      kind: 'jvm',
      storeDir,
      options: { ...options, brokerIP1: '127.0.0.1', brokerIP2: '127.0.0.1' },
    }));
    const retries: Queue = { topic: `%RETRY%${group}`, brokerName: real.brokerName, queueId: 0 };
    const again = await java.pullConsumer(real.namesrv, unique('group'));
    await until(async () => (await again.queues(topic).catch(() => [])).length > 0, 'the route is there', 20_000);
    await again.close();
    assert.deepEqual((await readAll(real.namesrv, [queue], results.length)).map(essence), stored.map(essence));
    const kept = await readAll(real.namesrv, [retries], COUNT);
    assert.deepEqual(keysOf(kept), keysOf(sent));
    assert.ok(kept.every(({ sysFlag }) => (sysFlag & V6_FLAGS) === V6_FLAGS));
  });
});
