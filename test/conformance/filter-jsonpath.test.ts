import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadFilterPlugin } from '../../plugins/filter/load.js';
import { propertyText, pull, pullAll, send } from '../support/send-pull.js';
import { testBroker } from '../support/test-broker.js';

/** The example in TypeScript, built and tested outside of this package as its author would, then loaded in every way. */
describe('example filter-jsonpath', () => {
  let folder: string;
  let example: string;

  before(async function () {
    this.timeout(60_000);
    folder = mkdtempSync(join(tmpdir(), 'mqkernel-example-'));
    example = join(folder, 'filter-jsonpath');
    cpSync('examples/filter-jsonpath', example, {
      recursive: true,
      filter: (path) => !/(node_modules|dist)$/.test(path),
    });
    mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
    symlinkSync(resolve('.'), join(folder, 'node_modules', 'mqkernel'));
    for (const name of ['@types/node', 'undici-types'])
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
    symlinkSync(example, join(folder, 'node_modules', 'mqkernel-filter-jsonpath'));
    await node(resolve('node_modules/typescript/bin/tsc'));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  async function node(...args: string[]): Promise<void> {
    const child = spawn(process.execPath, args, { cwd: example, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, output);
  }

  it('passes its own test', async function () {
    this.timeout(60_000);
    await node('--test', 'dist/index.test.js');
  });

  it('is loaded from a file, from a folder and from a package', async () => {
    for (const spec of ['filter-jsonpath/dist/index.js', './filter-jsonpath', 'mqkernel-filter-jsonpath']) {
      const { name, rule } = await loadFilterPlugin(spec, folder);
      assert.deepEqual([name, rule.expressionType], ['jsonpath', 'JSONPATH'], spec);
    }
  });

  it('filters at a broker by its expression type, and says what is wrong with an expression', async () => {
    await using broker = await testBroker({ options: { plugins: [example] } });
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
