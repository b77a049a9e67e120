import assert from 'node:assert/strict';
import { join } from 'node:path';
import { LogReader } from '../../../plugins/commitlog/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import { RequestCode } from '../../../protocol/codes.js';
import { segmentName, storePaths } from '../../../store/files/paths.js';
import type { RawClient } from '../../support/raw-client.js';
import {
  heartbeat,
  pull,
  pullAsk,
  pulledOf,
  send,
  sendAsk,
  subscriptionTo,
  type PullWish,
  type SendWish,
} from '../../support/send-pull.js';
import { SlowDisk } from '../../support/slow-disk.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker, type TestBrokerOptions } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const HOT_BYTES = 256 * 1024;
const COLD = 1600;

interface World extends AsyncDisposable {
  readonly broker: TestBroker;
  readonly client: RawClient;
  readonly disk: SlowDisk;
}

async function sendMany(client: RawClient, count: number, wishOf: (i: number) => SendWish): Promise<void> {
  const asked = Array.from({ length: count }, (_, i) => {
    const { code, ask } = sendAsk(wishOf(i));
    return client.prepare(code, ask);
  });
  client.write(Buffer.concat(asked.map(({ frame }) => frame)));
  for (const { answer } of asked) assert.equal((await answer).code, 0);
}

/** Old messages of topic `Cold`, which only the disk has, and a tail that is in memory: the last 100 of `Cold`, and those of `Hot`. */
async function world(options: TestBrokerOptions['options'] = {}): Promise<World> {
  const dir = tempDir();
  const disk = new SlowDisk();
  const broker = await testBroker({
    files: disk.files,
    options: { storePathRootDir: dir.path, hotBytes: HOT_BYTES, ...options },
  });
  const client = await broker.connect();
  for (const topic of ['Cold', 'Hot', 'Between']) await send(client, { topic });
  // With plugin bitmap the group's bits are set from here on.
  await heartbeat(client, 'Rare', [
    subscriptionTo('Cold', { expressionType: 'SQL92', subString: RARE_SQL.subscription }),
  ]);
  await sendMany(client, COLD, (i) => ({
    topic: i % 4 === 3 ? 'Between' : 'Cold',
    body: Buffer.alloc(1600, i),
    properties: `TAGS\u0001${i % 40 === 0 ? 'rare' : 'common'}\u0002n\u0001${i}`,
  }));
  const cold = broker.get(LogReader).maxOffset;
  const coldUnits = 1 + (COLD * 3) / 4;
  await sendMany(client, 40, () => ({ topic: 'Between', body: Buffer.alloc(10_000) }));
  await sendMany(client, 100, (i) => ({ topic: i % 2 === 0 ? 'Hot' : 'Cold', body: Buffer.alloc(300, i) }));
  await until(() => broker.get(Queues).maxOffset('Cold', 0) === coldUnits + 50, 'all are dispatched');
  await until(() => broker.get(Queues).maxOffset('Hot', 0) === 51, 'all are dispatched');
  const paths = storePaths(dir.path);
  disk.evict(join(paths.commitLog, segmentName(0)), cold);
  disk.evict(join(paths.consumeQueue, 'Cold', '0', segmentName(0)), coldUnits * 20);
  disk.evict(join(paths.consumeQueueExt, 'Cold', '0', segmentName(0)), coldUnits * 20);
  const dispose = async (): Promise<void> => {
    disk.release();
    client[Symbol.dispose]();
    await broker.stop();
    dir[Symbol.dispose]();
  };
  return { broker, client, disk, [Symbol.asyncDispose]: dispose };
}

/** Bodies' first bytes of all messages of `Cold` that a filter lets through. */
async function readOn(client: RawClient, wish: PullWish): Promise<number[]> {
  const found: number[] = [];
  for (let queueOffset = 0; ;) {
    const { code, messages, header } = await pull(client, { topic: 'Cold', queueOffset, ...wish });
    assert.ok(code === 0 || code === 20 || code === 19, `code ${code}`);
    found.push(...messages.map(({ body }) => body[0]));
    if (header.nextBeginOffset === header.maxOffset) return found;
    assert.ok(header.nextBeginOffset > queueOffset);
    queueOffset = header.nextBeginOffset;
  }
}

const coldNumbers = Array.from({ length: COLD }, (_, i) => i).filter((i) => i % 4 !== 3);
const rareBytes = coldNumbers.filter((i) => i % 40 === 0).map((i) => i % 256);
const RARE_SQL = { expressionType: 'SQL92', subscription: "TAGS = 'rare'" };
const extOptions = { enableConsumeQueueExt: true, plugins: ['sql92'] };
const bitOptions = { plugins: ['sql92', 'bitmap'] };

describe('pulls of what only the disk has', () => {
  const filters: Record<string, [PullWish, TestBrokerOptions['options']]> = {
    'by tag': [{ subscription: 'rare' }, {}],
    'by SQL92': [RARE_SQL, { plugins: ['sql92'] }],
    'by tag, with ext units': [{ subscription: 'rare' }, extOptions],
    'by SQL92, with filter bits': [{ consumerGroup: 'Rare', sysFlag: 0, subVersion: 1 }, bitOptions],
  };
  for (const [name, [filter, options]] of Object.entries(filters))
    it(`${name}: never keep the network thread waiting`, async () => {
      await using w = await world(options);
      assert.deepEqual(await readOn(w.client, filter), rareBytes);
      assert.deepEqual(w.disk.stalls, []);
    });

  it('of every message: never keep the network thread waiting', async () => {
    await using w = await world();
    const all = await readOn(w.client, {});
    const tail = Array.from({ length: 50 }, (_, i) => 2 * i + 1);
    assert.deepEqual(all.slice(1), [...coldNumbers.map((i) => i % 256), ...tail]);
    assert.deepEqual(w.disk.stalls, []);
  });

  it('leave others alone while the disk does not answer, and wait their turn', async () => {
    await using w = await world();
    const max = w.broker.get(Queues).maxOffset('Cold', 0);
    // The tail's reader is known before: that of a queue that nobody read lately asks the disk once.
    await pull(w.client, { topic: 'Cold', queueOffset: max - 50 });
    await pull(w.client, { topic: 'Hot', queueOffset: 40 });
    await pull(w.client, { topic: 'Cold', queueOffset: 0, maxMsgNums: 1 });
    w.disk.hold();
    using cold = await w.broker.connect();
    const asked = Array.from({ length: 100 }, (_, i) =>
      cold.ask(RequestCode.PULL_MESSAGE, pullAsk({ topic: 'Cold', queueOffset: i * 11, consumerGroup: 'Late' })),
    );
    await until(() => w.disk.held === 4, 'four reads wait for the disk');
    assert.equal((await pull(w.client, { topic: 'Hot', queueOffset: 40 })).messages.length, 11);
    assert.equal((await pull(w.client, { topic: 'Cold', queueOffset: max - 10 })).messages.length, 10);
    assert.equal((await send(w.client, { topic: 'Hot' })).code, 0);
    assert.equal(w.disk.held, 4);
    w.disk.release();
    for (const [i, answer] of (await Promise.all(asked)).map(pulledOf).entries())
      assert.equal(answer.messages[0].queueOffset, i * 11);
    assert.deepEqual(w.disk.stalls, []);
  });

  it('are answered 2 when too many wait', async () => {
    await using w = await world({ coldPullsMax: 2 });
    w.disk.hold();
    const two = [10, 20].map((queueOffset) => pull(w.client, { topic: 'Cold', queueOffset }));
    await until(() => w.disk.held === 1, 'one waits for the queue units of the other');
    const { code, remark } = await pull(w.client, { topic: 'Cold', queueOffset: 30 });
    assert.deepEqual([code, remark], [2, '2 pulls wait for the disk already (coldPullsMax)']);
    w.disk.release();
    for (const answer of await Promise.all(two)) assert.equal(answer.code, 0);
    assert.equal((await pull(w.client, { topic: 'Cold', queueOffset: 30 })).code, 0);
  });
});
