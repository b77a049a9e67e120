import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'mocha';
import { RawClient } from '../support/raw-client.js';
import { pull } from '../support/send-pull.js';
import { until } from '../support/until.js';
import type { OutMessage, Queue } from './support/driver.js';
import { createTopic, driver, routed, unique } from './support/suite.js';
import { defaultKind, startTarget, type Target, type TargetKind } from './support/target.js';

/** So small that each queue has several files of both kinds. */
const options = {
  enableConsumeQueueExt: true,
  mappedFileSizeConsumeQueueExt: 300,
  mappedFileSizeConsumeQueue: 400,
  enablePropertyFilter: true,
};
const tags = ['even', 'odd', '标签'];

function tagged(topic: string, from: number, count: number): OutMessage[] {
  return Array.from({ length: count }, (_, i) => ({
    topic,
    body: `${from + i}`,
    keys: `k${from + i}`,
    properties: { number: String(from + i) },
    ...((from + i) % 4 === 3 ? {} : { tags: tags[(from + i) % 4] ?? '' }),
  }));
}

async function send(target: Target, queues: readonly Queue[], messages: readonly OutMessage[]): Promise<void> {
  const producer = await (await driver()).producer(target.namesrv);
  for (const [i, message] of messages.entries()) await producer.send(message, queues[i % queues.length]);
  await producer.close();
}

/** The bodies that a filter lets through, by raw pulls of each queue, each of which has `perQueue` messages. */
async function filtered(target: Target, queues: readonly Queue[], perQueue: number, type: string, text: string) {
  using client = await RawClient.connect(target.broker);
  const bodies: number[] = [];
  for (const { topic, queueId } of queues) {
    const wish = { topic, queueId, expressionType: type, subscription: text };
    await until(async () => (await pull(client, wish)).header.maxOffset === perQueue, 'all is dispatched', 20_000);
    for (let queueOffset = 0; queueOffset < perQueue;) {
      const { header, messages, code } = await pull(client, { ...wish, queueOffset });
      bodies.push(...messages.map(({ body }) => Number(body.toString())));
      assert.ok(header.nextBeginOffset > queueOffset, `${code} at ${queueOffset}`);
      queueOffset = header.nextBeginOffset;
    }
  }
  return bodies.sort((a, b) => a - b);
}

async function assertServes(target: Target, queues: readonly Queue[], count: number): Promise<void> {
  const perQueue = count / queues.length;
  const numbers = (wanted: (i: number) => boolean): number[] =>
    Array.from({ length: count }, (_, i) => i).filter(wanted);
  assert.deepEqual(
    await filtered(target, queues, perQueue, 'TAG', '*'),
    numbers(() => true),
  );
  assert.deepEqual(
    await filtered(target, queues, perQueue, 'TAG', 'odd || 标签'),
    numbers((i) => [1, 2].includes(i % 4)),
  );
  const sql = "number BETWEEN 11 AND 29 AND TAGS = 'even'";
  assert.deepEqual(
    await filtered(target, queues, perQueue, 'SQL92', sql),
    numbers((i) => i > 10 && i < 30 && i % 4 === 0),
  );
}

/** Queue files and ext files of a topic, in hex, by path. */
function filesOf(storeDir: string, topic: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const root of ['consumequeue', 'consumequeue_ext'])
    for (const queueId of readdirSync(join(storeDir, root, topic)).sort())
      for (const name of readdirSync(join(storeDir, root, topic, queueId)).sort())
        found[`${root}/${queueId}/${name}`] = readFileSync(join(storeDir, root, topic, queueId, name)).toString('hex');
  return found;
}

describe('a store with ext files', function () {
  this.timeout(240_000);
  const folders: string[] = [];
  let served: Target | undefined;

  afterEach(async () => {
    await served?.stop();
    served = undefined;
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  function folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'mqkernel-ext-'));
    folders.push(path);
    return path;
  }

  async function start(kind: TargetKind, storeDir: string, before?: Target): Promise<Target> {
    return (served = await startTarget({
      kind,
      storeDir,
      options,
      ...(before === undefined ? {} : { sameAddressesAs: before }),
    }));
  }

  it('moves from the real broker to ours and back; its files are those that the real one builds from the log', async function () {
    if (defaultKind === 'jvm') this.skip();
    const storeDir = folder();
    const topic = unique('ext');
    const first = await start('jvm', storeDir);
    const queues = await createTopic(first, topic, 2);
    await send(first, queues, tagged(topic, 0, 50));
    await assertServes(first, queues, 50);
    await first.stop();

    const second = await start(defaultKind, storeDir, first);
    await routed(second, topic);
    await assertServes(second, queues, 50);
    await send(second, queues, tagged(topic, 50, 40));
    await assertServes(second, queues, 90);
    await second.stop();
    const ours = filesOf(storeDir, topic);
    assert.equal(Object.keys(ours).filter((path) => path.startsWith('consumequeue_ext/0/')).length, 4);

    const third = await start('jvm', storeDir, first);
    await routed(third, topic);
    await assertServes(third, queues, 90);
    await third.stop();
    assert.deepEqual(filesOf(storeDir, topic), ours, 'the real broker changes nothing of ours');

    const rebuilt = folder();
    cpSync(storeDir, rebuilt, { recursive: true });
    for (const path of ['consumequeue', 'consumequeue_ext', 'checkpoint'])
      rmSync(join(rebuilt, path), { recursive: true });
    writeFileSync(join(rebuilt, 'abort'), '');
    const fourth = await start('jvm', rebuilt, first);
    await routed(fourth, topic);
    await assertServes(fourth, queues, 90);
    await fourth.stop();
    assert.deepEqual(filesOf(rebuilt, topic), ours, 'a fresh build of the real broker');
  });
});
