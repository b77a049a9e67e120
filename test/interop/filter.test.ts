import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, describe, it } from 'mocha';
import type { Expression, OutMessage, Producer } from './support/driver.js';
import { arrived, createTopic, driver, failure, keysOf, target, unique } from './support/suite.js';
import { defaultKind, startTarget, type Target } from './support/target.js';

/** Comes last in each queue and is in every expression: what was not wanted would have come before it. */
const lastKey = 'k99';

/** Sends all to one queue, consumes with the expression and gives the keys that came, but for the closing one. */
async function consumed(
  messages: Omit<OutMessage, 'topic'>[],
  expression: Expression,
  at: Promise<Target> = target(),
): Promise<string[]> {
  const [java, { namesrv }] = [await driver(), await at];
  const topic = unique('filtered');
  const [queue] = await createTopic(await at, topic, 1);
  assert.ok(queue);
  const producer: Producer = await java.producer(namesrv);
  const last = { body: 'last', keys: lastKey, tags: 'last', properties: { last: '1' } };
  for (const message of [...messages, last]) await producer.send({ ...message, topic }, queue);
  // One listener thread, so that the order of the queue is kept.
  const config = { consumeThreadMin: 1, consumeThreadMax: 1 };
  const consumer = await java.pushConsumer({ namesrv, group: unique('group'), topic, expression, config });
  await arrived(consumer, 1);
  while (!keysOf(consumer.received).includes(lastKey)) await arrived(consumer, consumer.received.length + 1);
  await Promise.all([producer.close(), consumer.close()]);
  return keysOf(consumer.received).filter((key) => key !== lastKey);
}

describe('tag expressions of the Java client', () => {
  // "Aa" and "BB" have the same hash code in Java: the broker lets both pass, the client looks again.
  const tagged = ['a', 'b', 'c', undefined, 'Aa', 'BB', '杭州'].map((tags, i) => ({
    body: `tag ${tags}`,
    keys: `k${i}`,
    ...(tags === undefined ? {} : { tags }),
  }));

  const wanted: Record<string, string[]> = {
    'a || b || last': ['k0', 'k1'],
    'c||last': ['k2'],
    'Aa || last': ['k4'],
    '杭州 || last': ['k6'],
    '*': ['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6'],
  };
  for (const [text, keys] of Object.entries(wanted)) {
    it(text, async () => assert.deepEqual(await consumed(tagged, { type: 'TAG', text }), keys));
  }
});

describe('SQL92 expressions of the Java client', () => {
  const goods = [
    { price: '10', region: '杭州', tags: 'a' },
    { price: '15.5', region: 'Berlin', vip: 'true', tags: 'b' },
    { price: '20', region: "O'Hare", tags: 'c' },
    { region: '杭州', vip: 'false', tags: 'a' },
    { price: 'cheap', region: 'Berlin', tags: 'b' },
  ].map(({ tags, ...properties }, i) => ({
    body: `article ${i}`,
    keys: `k${i}`,
    tags,
    properties: properties as Record<string, string>,
  }));

  const wanted: Record<string, string[]> = {
    // 4.9: ComparisonExpression reads a property as the kind of number that the literal is.
    'price > 12': ['k2'],
    'price > 12.0': ['k1', 'k2'],
    'price BETWEEN 10 AND 15.5': ['k0'],
    'price BETWEEN 10.0 AND 15.5': ['k0', 'k1'],
    "region = '杭州'": ['k0', 'k3'],
    "region IN ('Berlin', 'O''Hare') AND price IS NOT NULL": ['k1', 'k2', 'k4'],
    'price IS NULL': ['k3'],
    'vip = TRUE': ['k1'],
    "TAGS = 'a' AND NOT (price >= 10)": [],
    "region NOT IN ('Berlin') OR vip = TRUE": ['k0', 'k1', 'k2', 'k3'],
  };
  for (const [text, keys] of Object.entries(wanted)) {
    it(text, async () => {
      const expression: Expression = { type: 'SQL92', text: `last = '1' OR (${text})` };
      assert.deepEqual(await consumed(goods, expression), keys);
    });
  }

  it('a malformed one is refused with 23 when the consumer starts', async () => {
    const [java, { namesrv }] = [await driver(), await target()];
    const topic = unique('malformed');
    await createTopic(await target(), topic, 1);
    const expression: Expression = { type: 'SQL92', text: 'price >' };
    const error = await failure(java.pushConsumer({ namesrv, group: unique('group'), topic, expression }));
    assert.deepEqual([error.type, error.code], ['MQClientException', 23]);
  });
});

describe('a filter plugin and the Java client', function () {
  let served: Target;

  before(async function () {
    if (defaultKind === 'jvm') this.skip();
    served = await startTarget({ options: { plugins: resolve('examples/filter-prefix/index.js') } });
  });

  after(() => served?.stop());

  it('delivers what matches, by the expression type that it has', async () => {
    const from = (region: string, i: number) => ({ body: region, keys: `k${i}`, properties: { region } });
    const messages = ['eu-west', 'us-east', 'eu-'].map(from);
    const last = { body: 'eu-last', keys: lastKey, properties: { region: 'eu-last' } };
    const keys = await consumed([...messages, last], { type: 'PREFIX', text: 'region=eu-' }, Promise.resolve(served));
    assert.deepEqual(keys, ['k0', 'k2']);
  });

  it('refuses a wrong expression with 23 when the consumer starts, and SQL92 with 1', async () => {
    const topic = unique('refused');
    await createTopic(served, topic, 1);
    const start = async (type: string, text: string) => {
      const request = { namesrv: served.namesrv, group: unique('group'), topic, expression: { type, text } };
      const { code, text: said } = await failure((await driver()).pushConsumer(request));
      return [code, said] as const;
    };
    const [code, said] = await start('PREFIX', 'region');
    assert.equal(code, 23);
    assert.match(said, /expected name=prefix at position 6/);
    assert.equal((await start('SQL92', 'a = 1'))[0], 1);
  });
});
