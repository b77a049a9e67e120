import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTopology } from '../../../config/topology.js';
import { ConsumerFilters } from '../../../plugins/filter/bitmap/contract.js';
import { Queues } from '../../../plugins/reput/contract.js';
import { positionsOf } from '../../../plugins/filter/bitmap/rule.js';
import { PullSysFlag, RequestCode } from '../../../protocol/codes.js';
import type { ExtPlace } from '../../../store/consumequeue/ext-unit.js';
import type { RawClient } from '../../support/raw-client.js';
import { SeededRandom } from '../../support/seeded-random.js';
import {
  heartbeat,
  pull,
  pullAll,
  pullAsk,
  pulledOf,
  send,
  subscriptionTo,
  type PullWish,
} from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const PLUGINS = { plugins: ['sql92', 'bitmap'] };
/** Of `expectConsumerNumUseFilter` 32 and `maxErrorRateOfBloomFilter` 20. */
const [BITS, HASHES] = [112, 3];

function enter(client: RawClient, group: string, subString: string, expressionType = 'SQL92'): Promise<unknown> {
  return heartbeat(client, group, [subscriptionTo('T', { subString, expressionType, subVersion: 1 })]);
}

/** Until messages that are sent now are dispatched with the group's filter. */
async function inForce(broker: TestBroker, group: string, subString: string, expressionType = 'SQL92'): Promise<void> {
  const subscription = subscriptionTo('T', { subString, expressionType });
  const asked = { storeTimestamp: 9e15, bits: BITS, has: () => false };
  const known = (): boolean =>
    broker.get(ConsumerFilters).narrowed(group, subscription, {}).matchesTagsCode?.(0, asked) === false;
  await until(known, `${subString} of ${group} is in force`);
  const { storeTimestamp } = await lastStored(broker);
  // What is judged by its bits has a later store time.
  await until(async () => (await lastStored(broker)).storeTimestamp > storeTimestamp, 'the clock moved on');
}

async function lastStored(broker: TestBroker): Promise<{ storeTimestamp: number }> {
  using client = await broker.connect();
  const { header } = await send(client, { topic: 'Clock' });
  const [message] = await pullAll(client, 1, { topic: 'Clock', queueOffset: header.queueOffset });
  return message!;
}

async function fill(client: RawClient, from: number, to: number): Promise<void> {
  await Promise.all(
    Array.from({ length: to - from }, (_, i) =>
      send(client, { body: Buffer.from(String(from + i)), properties: `n\u0001${from + i}` }),
    ),
  );
}

/** Numbers of the messages that a member of the group gets, `count` being there in all. */
async function pulled(client: RawClient, count: number, wish: PullWish): Promise<number[]> {
  const found: number[] = [];
  await until(async () => (await pull(client)).header.maxOffset === count, 'all are dispatched');
  for (let queueOffset = 0; queueOffset < count;) {
    const { header, messages, code } = await pull(client, { sysFlag: 0, ...wish, queueOffset });
    assert.ok(header.nextBeginOffset > queueOffset, `answered ${code} at ${queueOffset}`);
    found.push(...messages.map(({ body }) => Number(body.toString())));
    queueOffset = header.nextBeginOffset;
  }
  return found.sort((a, b) => a - b);
}

const numbers = (count: number, wanted: (n: number) => boolean): number[] =>
  Array.from({ length: count }, (_, n) => n).filter(wanted);

/** The ext unit of a message. */
function extOf(broker: TestBroker, queueOffset: number): ExtPlace | undefined {
  const queues = broker.get(Queues);
  const units = queues.entries('T', 0, queueOffset, 1);
  return queues.extUnits('T', 0)(units.readInt32BE(16));
}

const hasBitsOf = (broker: TestBroker, group: string, queueOffset: number): boolean =>
  positionsOf(group, 'T', BITS, HASHES).every((bit) => extOf(broker, queueOffset)?.has(bit) === true);

/** A filter by the property n that counts the messages it looks at. */
const COUNTED = `export default { kind: 'filter', name: 'counted', rule: { expressionType: 'COUNTED', compile: (expression) => ({
  matches: (properties) => (globalThis.looked = (globalThis.looked ?? 0) + 1, properties.get('n') === expression),
}) } };`;
const looked = (): unknown => (globalThis as { looked?: number }).looked;

describe('a broker with the plugin bitmap', () => {
  it('computes bits for every group with a filter on the topic, and none before there is one', async () => {
    await using broker = await testBroker({ options: PLUGINS });
    using client = await broker.connect();
    await fill(client, 0, 1);
    await pullAll(client, 1);
    await enter(client, 'low', 'n < 5');
    await enter(client, 'high', 'n >= 5');
    await inForce(broker, 'low', 'n < 5');
    await inForce(broker, 'high', 'n >= 5');
    for (const n of [1, 7]) {
      await fill(client, n, n + 1);
      await pullAll(client, n === 1 ? 2 : 3);
    }
    assert.deepEqual(
      [0, 1, 2].map((offset) => extOf(broker, offset)?.bits),
      [0, BITS, BITS],
    );
    assert.deepEqual(
      [1, 2].map((offset) => [hasBitsOf(broker, 'low', offset), hasBitsOf(broker, 'high', offset)]),
      [
        [true, false],
        [false, true],
      ],
    );
  });

  it('looks at no record whose bits say that it does not pass', async () => {
    using dir = tempDir();
    const plugin = join(dir.path, 'counted.js');
    writeFileSync(plugin, COUNTED);
    await using broker = await testBroker({ options: { plugins: ['bitmap', plugin] } });
    using client = await broker.connect();
    await enter(client, 'G', '250', 'COUNTED');
    await inForce(broker, 'G', '250', 'COUNTED');
    await fill(client, 0, 500);
    await pullAll(client, 500);
    assert.equal(looked(), 500, 'each once when it is dispatched');
    assert.deepEqual(await pulled(client, 500, { consumerGroup: 'G' }), [250]);
    assert.equal(looked(), 501);
    const own = { sysFlag: PullSysFlag.SUBSCRIPTION, expressionType: 'COUNTED', subscription: '250' };
    assert.deepEqual(await pulled(client, 500, own), [250]);
    assert.equal(looked(), 1001, 'a pull with a filter of its own looks at all');
  });

  it('wakes a held pull by a message that passes, and by no other', async () => {
    await using broker = await testBroker({ options: PLUGINS });
    using client = await broker.connect();
    using consumer = await broker.connect();
    await enter(consumer, 'G', 'n = 3');
    await inForce(broker, 'G', 'n = 3');
    await fill(client, 0, 1);
    await pullAll(client, 1);
    const ask = pullAsk({ consumerGroup: 'G', sysFlag: PullSysFlag.SUSPEND, queueOffset: 1 });
    const held = consumer.ask(RequestCode.PULL_MESSAGE, ask).then(pulledOf);
    for (const n of [1, 2, 3]) await fill(client, n, n + 1);
    const { messages, header } = await held;
    assert.deepEqual([messages.map(({ body }) => body.toString()), header.nextBeginOffset], [['3'], 4]);
  });

  it('asks custom filters, too, and keeps them out of the file', async () => {
    using dir = tempDir();
    const plugin = join(process.cwd(), 'examples', 'filter-prefix', 'index.js');
    const options = { plugins: [...PLUGINS.plugins, plugin], storePathRootDir: dir.path };
    await using broker = await testBroker({
      options,
      topology: loadTopology({ topology: 'dedicated', memory: false }),
    });
    using client = await broker.connect();
    await enter(client, 'P', 'n=1', 'PREFIX');
    await inForce(broker, 'P', 'n=1', 'PREFIX');
    await fill(client, 0, 20);
    assert.deepEqual(await pulled(client, 20, { consumerGroup: 'P' }), [1, ...numbers(20, (n) => n >= 10)]);
    const offsets = numbers(20, (offset) => hasBitsOf(broker, 'P', offset));
    assert.equal(offsets.length, 11);
    await enter(client, 'S', 'n = 1');
    const file = join(dir.path, 'config', 'consumerFilter.json');
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('"S"'), 'the file is written');
    assert.ok(!readFileSync(file, 'utf8').includes('PREFIX'));
  });

  it('starts without bits when consumerFilter.json is damaged, and says so', async () => {
    using dir = tempDir();
    const options = { ...PLUGINS, storePathRootDir: dir.path };
    const file = join(dir.path, 'config', 'consumerFilter.json');
    {
      await using broker = await testBroker({ options });
      using client = await broker.connect();
      await enter(client, 'G', 'n = 1');
      await inForce(broker, 'G', 'n = 1');
    }
    const text = readFileSync(file, 'utf8');
    assert.match(text, /"bitNum":112/);
    for (const path of [file, `${file}.bak`]) writeFileSync(path, '{"filterDataByTopic":');
    await using broker = await testBroker({ options });
    assert.ok(broker.lines.some(({ message }) => message.includes('filter bits count from now on')));
  });
});

describe('groups that come, go, change and restart', () => {
  const expressions = [2, 3, 5, 7].map((by) => ({
    text: `n IN (${numbers(500, (n) => n % by === 0)
      .map((n) => `'${n}'`)
      .join(',')})`,
    passes: (n: number) => n % by === 0,
  }));

  for (const topology of ['fused', 'dedicated', 'paired'])
    for (const seed of [1, 2])
      it(`get each message that passes, and no other: ${topology}, seed ${seed}`, async function () {
        this.timeout(60_000);
        using dir = tempDir();
        const random = new SeededRandom(seed);
        const wishes = {
          options: { ...PLUGINS, storePathRootDir: dir.path, mappedFileSizeConsumeQueueExt: 700 },
          topology: loadTopology({ topology, memory: false }),
        };
        let count = 0;
        const now = new Map<string, (typeof expressions)[number]>();
        for (let life = 0; life < 3; life++) {
          await using broker = await testBroker(wishes);
          using producer = await broker.connect();
          const members = new Map<string, RawClient>();
          for (let step = 0; step < 12; step++) {
            const group = `G${random.below(3)}`;
            const member = members.get(group);
            if (member !== undefined && random.below(3) === 0) {
              member[Symbol.dispose]();
              members.delete(group);
            } else {
              const wanted = random.below(3) > 0 ? now.get(group) : undefined;
              const expression = wanted ?? expressions[random.below(expressions.length)]!;
              now.set(group, expression);
              members.set(group, member ?? (await broker.connect()));
              await enter(members.get(group)!, group, expression.text);
            }
            await fill(producer, count, (count += random.below(12)));
          }
          for (const [group, { passes }] of now) {
            if (!members.has(group)) continue;
            assert.deepEqual(
              await pulled(members.get(group)!, count, { consumerGroup: group }),
              numbers(count, passes),
            );
          }
          for (const member of members.values()) member[Symbol.dispose]();
        }
      });
});
