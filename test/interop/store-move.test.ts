import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'mocha';
import { systemClock } from '../../kernel/base/clock.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { storePaths } from '../../store/files/paths.js';
import { verifyStore } from '../../store/verify/verify.js';
import type { InMessage, OutMessage, Producer, Queue } from './support/driver.js';
import { arrived, createTopic, driver, keysOf, routed, unique } from './support/suite.js';
import { defaultKind, startTarget, type Target, type TargetKind } from './support/target.js';

const perQueue = 10;
const consumedBefore = 12;

function varied(topic: string, count: number): OutMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    topic,
    body: i % 5 === 0 ? '大'.repeat(5_000) : `消息 ${i} 🚀`,
    keys: `k${i}`,
    tags: i % 2 === 0 ? 'even' : 'odd',
    properties: { number: String(i), 颜色: '红' },
    flag: i,
  }));
}

async function sendInTurn(
  producer: Producer,
  messages: readonly OutMessage[],
  queues: readonly Queue[],
): Promise<void> {
  for (const [i, message] of messages.entries()) await producer.send(message, queues[i % queues.length]);
}

/** All that a reader sees of a message, but for what its client adds by itself. */
function essence(message: InMessage): unknown {
  const { CONSUME_START_TIME: _, MIN_OFFSET: __, MAX_OFFSET: ___, ...properties } = message.properties;
  return { ...message, body: message.body.toString('base64'), properties };
}

async function readAll(target: Target, queues: readonly Queue[]): Promise<unknown[][]> {
  const reader = await (await driver()).pullConsumer(target.namesrv, unique('group'));
  const all: unknown[][] = [];
  for (const queue of queues) all.push((await reader.drain(queue, perQueue)).map(essence));
  await reader.close();
  return all;
}

/** Whoever wrote it: each record has its unit, each index entry its record. */
function assertSound(storeDir: string): void {
  const paths = storePaths(storeDir);
  const report = verifyStore({ files: nodeFiles, paths, all: true, nowMs: systemClock.wallMs() });
  assert.deepEqual([report.damaged, report.findings], [false, []]);
  assert.ok(report.records >= 2 * perQueue && report.units >= 2 * perQueue);
}

describe('a store directory moves', function () {
  this.timeout(180_000);
  let storeDir: string | undefined;
  let served: Target | undefined;

  afterEach(async () => {
    await served?.stop();
    served = undefined;
    if (storeDir !== undefined) rmSync(storeDir, { recursive: true, force: true });
  });

  it('from our broker to the real one', () => moves(defaultKind, 'jvm'));

  it('from the real broker to ours', function () {
    if (defaultKind === 'jvm') this.skip();
    return moves('jvm', defaultKind);
  });

  async function moves(from: TargetKind, to: TargetKind): Promise<void> {
    const java = await driver();
    storeDir = mkdtempSync(join(tmpdir(), 'mqkernel-store-'));
    const options = { enablePropertyFilter: true };
    const before = (served = await startTarget({ kind: from, storeDir, options }));
    const topic = unique('moved');
    const queues = await createTopic(before, topic, 2);
    const producer = await java.producer(before.namesrv);
    const sent = varied(topic, perQueue * queues.length);
    await sendInTurn(producer, sent.slice(0, consumedBefore), queues);
    const group = unique('group');
    const consumer = await java.pushConsumer({ namesrv: before.namesrv, group, topic });
    await arrived(consumer, consumedBefore);
    await consumer.close();
    await sendInTurn(producer, sent.slice(consumedBefore), queues);
    await producer.close();
    const written = await readAll(before, queues);
    await before.stop();
    assertSound(storeDir);

    // The same addresses, since the ids and store hosts in the files name them.
    served = await startTarget({ kind: to, storeDir, options, sameAddressesAs: before });
    await routed(served, topic);
    assert.deepEqual(await readAll(served, queues), written);
    await findsById(served, queues[0]);
    await goesOn(served, topic, queues, group, sent);
  }

  async function findsById(target: Target, queue: Queue | undefined): Promise<void> {
    const reader = await (await driver()).pullConsumer(target.namesrv, unique('group'));
    assert.ok(queue);
    const stored = (await reader.drain(queue, perQueue))[3];
    const found = (await reader.call('viewMessage', stored?.offsetMsgId)) as { queueOffset: number; msgId: string };
    assert.deepEqual([found.queueOffset, found.msgId], [3, stored?.msgId]);
    await reader.close();
  }

  async function goesOn(
    target: Target,
    topic: string,
    queues: readonly Queue[],
    group: string,
    sent: readonly OutMessage[],
  ): Promise<void> {
    const java = await driver();
    const producer = await java.producer(target.namesrv);
    for (const queue of queues) {
      const next = await producer.send({ topic, body: 'x', keys: `k2${queue.queueId}` }, queue);
      assert.equal(next.queueOffset, perQueue);
    }
    const consumer = await java.pushConsumer({ namesrv: target.namesrv, group, topic });
    const expected = [...sent.slice(consumedBefore), { keys: 'k20' }, { keys: 'k21' }];
    assert.deepEqual(keysOf(await arrived(consumer, expected.length)), keysOf(expected));
    await Promise.all([producer.close(), consumer.close()]);
  }
});
