import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { loadFilterPlugin } from '../../plugins/filter/load.js';
import { BuiltExample } from '../support/built-example.js';
import { propertyText, pull, pullAll, send } from '../support/send-pull.js';
import { testBroker } from '../support/test-broker.js';

/** The example in TypeScript, built and tested outside of this package as its author would, then loaded in every way. */
describe('example filter-jsonpath', () => {
  let example: BuiltExample;

  before(async function () {
    this.timeout(60_000);
    example = await BuiltExample.of('filter-jsonpath');
    symlinkSync(example.path, join(example.path, 'node_modules', 'mqkernel-filter-jsonpath'), 'junction');
  });

  after(() => example[Symbol.dispose]());

  it('passes its own test', async function () {
    this.timeout(60_000);
    await example.test();
  });

  it('is loaded from a file, from a folder and from a package', async () => {
    for (const spec of ['dist/index.js', '.', 'mqkernel-filter-jsonpath']) {
      const { name, rule } = await loadFilterPlugin(spec, example.path);
      assert.deepEqual([name, rule.expressionType], ['jsonpath', 'JSONPATH'], spec);
    }
  });

  it('filters at a broker by its expression type, and says what is wrong with an expression', async () => {
    await using broker = await testBroker({ options: { plugins: [example.path] } });
    using client = await broker.connect();
    for (const order of ['{"city":"Berlin"}', '{"city":"Bonn"}', 'Berlin'])
      await send(client, { properties: propertyText({ order }) });
    await pullAll(client, 3);
    const found = await pull(client, { expressionType: 'JSONPATH', subscription: 'order: $.city = "Berlin"' });
    assert.deepEqual(
      found.messages.map(({ queueOffset }) => queueOffset),
      [0],
    );
    const wrong = await pull(client, { expressionType: 'JSONPATH', subscription: 'order: $.city = Berlin' });
    assert.equal(wrong.code, 23);
    assert.match(String(wrong.remark), /: expected a JSON string, number, true, false or null at position 16$/);
  });
});
