import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KernelError } from '../../../kernel/base/errors.js';
import { loadFilterPlugin } from '../../../plugins/filter/load.js';
import sql92 from '../../../plugins/filter/sql92/index.js';
import tag from '../../../plugins/filter/tag/index.js';

const source = (name: string): string =>
  `export default { kind: 'filter', name: '${name}', rule: { expressionType: 'X', compile: () => ({ matches: () => true }) } };`;

describe('loading filter plugins', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mqkernel-load-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  async function failure(spec: string): Promise<KernelError> {
    const error: unknown = await loadFilterPlugin(spec, folder).then(
      () => assert.fail(`${spec} was loaded`),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof KernelError);
    assert.equal(error.exitCode, 2);
    assert.ok(error.message.includes(spec), error.message);
    return error;
  }

  it('finds the built-in ones by name, before any file', async () => {
    write('sql92', 'throw new Error();');
    assert.equal(await loadFilterPlugin('tag', folder), tag);
    assert.equal(await loadFilterPlugin('sql92', folder), sql92);
  });

  it('finds a file, relative or absolute, and a folder', async () => {
    write('mine.mjs', source('mine'));
    write('own/index.js', source('own'));
    write('package.json', '{"type":"module"}');
    for (const spec of ['mine.mjs', './mine.mjs', join(folder, 'mine.mjs')])
      assert.equal((await loadFilterPlugin(spec, folder)).name, 'mine');
    assert.equal((await loadFilterPlugin('./own', folder)).name, 'own');
  });

  it('finds a package that is installed where the broker is started', async () => {
    write('node_modules/@me/my-filter/package.json', '{"name":"@me/my-filter","type":"module","exports":"./main.js"}');
    write('node_modules/@me/my-filter/main.js', source('packed'));
    assert.equal((await loadFilterPlugin('@me/my-filter', folder)).name, 'packed');
  });

  it('takes CommonJS', async () => {
    write('old.cjs', source('old').replace('export default', 'module.exports ='));
    assert.equal((await loadFilterPlugin('old.cjs', folder)).name, 'old');
  });

  it('lists the built-in ones when there is nothing of that name', async () => {
    for (const spec of ['sql93', './missing.js', '@me/nothing']) {
      const error = await failure(spec);
      assert.equal(error.code, 'PLUGIN_UNKNOWN');
      assert.match(error.line(), /built in are tag, sql92/);
    }
  });

  it('names a plugin that throws, does not parse or misses a module of its own', async () => {
    write('throws.mjs', "throw new Error('boom');");
    write('torn.mjs', 'export default {');
    write('lonely.mjs', "import './gone.mjs';");
    for (const [spec, why] of [
      ['throws.mjs', /boom/],
      ['torn.mjs', /Unexpected/],
      ['lonely.mjs', /gone\.mjs/],
    ] as const) {
      // prettier-ignore
      const error = await failure(spec);
      assert.equal(error.code, 'PLUGIN_FAILED');
      assert.match(error.message, why);
    }
  });

  it('names a module that is no filter plugin', async () => {
    write('empty.mjs', '');
    write('named.mjs', source('x').replace('default {', 'const plugin = {'));
    write('shapeless.mjs', "export default { kind: 'filter', name: 'x', rule: { expressionType: 'X' } };");
    for (const [spec, why] of [
      ['empty.mjs', /no filter plugin/],
      ['named.mjs', /no filter plugin/],
      ['shapeless.mjs', /rule\.compile must be a function/],
    ] as const) {
      // prettier-ignore
      const error = await failure(spec);
      assert.equal(error.code, 'PLUGIN_INVALID');
      assert.match(error.message, why);
      assert.match(error.remedy ?? '', /defineFilter/);
    }
  });
});
