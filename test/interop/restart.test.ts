import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { until } from '../support/until.js';
import { arrived, createTopic, driver, keysOf, numbered, patienceMs, unique } from './support/suite.js';
import { startTarget, type Target } from './support/target.js';

/**
 * How long 4.9.7's client may stay away: it lets a pull that the lost broker held run into its timeout of 30 s, and tells
 * the new broker of its group with the next heartbeat, which is due every 30 s.
 */
const returnMs = 60_000;
const loadThreads = 4;
const loadBodyBytes = 1024;
const loadMessages = 1_500;

describe('a restart on the same store', function () {
  this.timeout(180_000);
  let storeDir: string;
  let served: Target | undefined;

  beforeEach(() => {
    storeDir = mkdtempSync(join(tmpdir(), 'mqkernel-store-'));
  });
  afterEach(async () => {
    await served?.stop();
    served = undefined;
    rmSync(storeDir, { recursive: true, force: true });
  });

  it('consumer groups go on where they stood, and living clients find the broker again', async () => {
    const java = await driver();
    const before = (served = await startTarget({ storeDir }));
    const { namesrv } = before;
    const topic = unique('restarted');
    await createTopic(before, topic);
    const producer = await java.producer(namesrv);
    for (const message of numbered(topic, 20)) await producer.send(message);
    const group = unique('group');
    const first = await java.pushConsumer({ namesrv, group, topic });
    const living = await java.pushConsumer({ namesrv, group: unique('living'), topic });
    await arrived(first, 20);
    await arrived(living, 20);
    await first.close();

    await before.stop();
    served = await startTarget({ storeDir, sameAddressesAs: before });
    assert.deepEqual([served.namesrv, served.broker], [before.namesrv, before.broker]);

    const sendAgain = async (): Promise<boolean> => {
      try {
        return (await producer.send({ topic, body: 'are you there?', keys: 'k20' })).status === 'SEND_OK';
      } catch {
        return false;
      }
    };
    await until(sendAgain, 'the living producer sends again', patienceMs);
    for (const message of numbered(topic, 9, 21)) await producer.send(message);
    const second = await java.pushConsumer({ namesrv, group, topic });
    assert.deepEqual(keysOf(await arrived(second, 10)), keysOf(numbered(topic, 10, 20)));
    assert.deepEqual(keysOf(await arrived(living, 30, returnMs)), keysOf(numbered(topic, 30)));
    await Promise.all([producer, second, living].map((client) => client.close()));
  });

  it('kill -9 under load loses nothing that was acknowledged', async () => {
    const java = await driver();
    served = await startTarget({ storeDir });
    const topic = unique('killed');
    const queues = await createTopic(served, topic);
    const producer = await java.producer(served.namesrv, { retryTimesWhenSendFailed: 0, sendMsgTimeout: 3_000 });
    await producer.startLoad(topic, loadThreads, loadBodyBytes);
    await until(async () => (await producer.loadCount()) >= loadMessages, 'the load runs', 60_000);
    await served.kill9();
    const { acknowledged } = await producer.stopLoad();
    await producer.close();
    assert.ok(acknowledged.length >= loadMessages);

    served = await startTarget({ storeDir });
    const reader = await java.pullConsumer(served.namesrv, unique('group'));
    const after = await java.producer(served.namesrv);
    for (const queue of queues) {
      const mine = acknowledged.filter((ack) => ack.queue.queueId === queue.queueId);
      const stored = await reader.drain(queue, mine.length);
      stored.forEach((message, i) => assert.equal(message.queueOffset, i));
      for (const ack of mine) {
        const message = stored[ack.queueOffset];
        assert.equal(message?.msgId, ack.msgId, `${ack.key} is at offset ${ack.queueOffset} of queue ${queue.queueId}`);
        assert.equal(message.body.toString(), ack.body);
      }
      const next = await after.send({ topic, body: 'after the restart' }, queue);
      assert.equal(next.queueOffset, stored.length);
    }
    await Promise.all([reader.close(), after.close()]);
  });
});
