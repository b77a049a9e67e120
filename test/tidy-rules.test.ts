import assert from 'node:assert/strict';
import { bannedWords } from './support/tidy/banned.js';
import { layerViolations } from './support/tidy/layers.js';
import { deadFiles } from './support/tidy/reachable.js';
import { sizeViolations } from './support/tidy/sizes.js';
import { sourceOf } from './support/tidy/sources.js';

/** The rules themselves must be able to fail. */
describe('tidy rules', () => {
  const layersOf = (path: string, line: string): string[] => layerViolations([sourceOf(path, line)]);
  const bannedIn = (path: string, text: string): number => bannedWords([sourceOf(path, text)]).length;

  for (const [path, line] of [
    ['kernel/base/a.ts', `import '../kernel.js';`],
    ['protocol/a.ts', `export * from '../store/b.js';`],
    ['store/files/a.ts', `import '../../workers/flush/contract.js';`],
    ['kernel/kernel.ts', `import { declarations } from '../config/options.js';`],
    ['kernel/kernel.ts', `import '../plugins/send/contract.js';`],
    ['workers/flush/a.ts', `import '../commitlog/appender.js';`],
    ['workers/flush/a.ts', `import '../../plugins/filter/sql92/index.js';`],
    ['workers/urls.ts', `import './flush/handle.js';`],
    ['workers/flush/a.ts', `import '../../kernel/kernel.js';`],
    ['plugins/send/a.ts', `import '../pull/hold.js';`],
    ['plugins/send/a.ts', `import '../../workers/commitlog/appender.js';`],
    ['plugins/send/a.ts', `const x = await import('../../client/index.js');`],
    ['config/load.ts', `import '../plugins/send/index.js';`],
    ['config/profiles/all.ts', `import '../../plugins/send/steps.js';`],
    ['client/a.ts', `import '../plugins/allocation/averagely/index.js';`],
    ['plugins/filter/a.ts', `import '../allocation/conformance.js';`],
    ['plugins/plugin-api.ts', `import './allocation/load.js';`],
    ['cli/a.ts', `import '../workers/flush/handle.js';`],
    ['cli/a.ts', `import '../plugins/filter/load.js';`],
    ['examples/a.ts', `import '../client/index.js';`],
    ['lib/a.ts', ''],
  ] as const) {
    it(`sees the wall crossed in ${path}: ${line}`, () => {
      assert.equal(layersOf(path, line).length, 1);
    });
  }

  for (const [path, line] of [
    ['kernel/kernel.ts', `import type { Options } from '../config/options.js';`],
    ['kernel/kernel.ts', `import { type Options } from '../config/options.js';`],
    ['workers/flush/a.ts', `import './contract.js'; import '../../kernel/ring/wait.js'; import 'node:fs';`],
    ['workers/reput/a.ts', `import '../commitlog/contract.js'; import '../urls.js';`],
    ['workers/urls.ts', `import './flush/entry.js';`],
    ['workers/reput/a.ts', `import '../../plugins/filter/tag/rule.js';`],
    ['plugins/send/a.ts', `import '../../workers/commitlog/handle.js'; import '../remoting/contract.js';`],
    ['plugins/filter/sql92/a.ts', `import '../contract.js';`],
    ['config/profiles/all.ts', `import '../../plugins/filter/sql92/index.js'; import '../options.js';`],
    ['client/a.ts', `import '../plugins/allocation/averagely/rule.js';`],
    ['plugins/plugin-api.ts', `import './allocation/conformance.js'; import './filter/contract.js';`],
    ['cli/a.ts', `import '../plugins/allocation/load.js';`],
    ['test/a.test.ts', `import '../plugins/send/steps.js';`],
  ] as const) {
    it(`lets ${path} import ${line}`, () => {
      assert.deepEqual(layersOf(path, line), []);
    });
  }

  it('counts the lines of files and functions, but not of describe', () => {
    const lines = (count: number): string => 'x();\n'.repeat(count);
    assert.deepEqual(sizeViolations([sourceOf('a.ts', lines(400))]), []);
    assert.equal(sizeViolations([sourceOf('a.ts', lines(401))]).length, 1);
    assert.deepEqual(sizeViolations([sourceOf('a.ts', `function a() {\n${lines(68)}}`)]), []);
    assert.match(
      sizeViolations([sourceOf('a.ts', `\nfunction a() {\n${lines(69)}}`)])[0]!,
      /^a\.ts:2: a function of 71 lines/,
    );
    assert.equal(sizeViolations([sourceOf('a.ts', `class A {\n#m() {\n${lines(69)}}}`)]).length, 1);
    assert.deepEqual(sizeViolations([sourceOf('a.ts', `describe('a', () => {\n${lines(100)}});`)]), []);
    assert.equal(sizeViolations([sourceOf('a.ts', `it('a', () => {\n${lines(100)}});`)]).length, 1);
  });

  it('finds banned words in code, not in comments or strings', () => {
    assert.equal(bannedIn('plugins/a/b.ts', `const a = Date.now(); const b = new Date();`), 2);
    assert.equal(
      bannedIn('plugins/a/b.ts', `const a = new Date(clock.wallMs()); // Date.now()\nconst b = 'console.log';`),
      0,
    );
    assert.equal(bannedIn('kernel/base/clock.ts', 'Date.now()'), 0);
    assert.equal(bannedIn('plugins/a/b.ts', `import { container as c, inject } from 'tsyringe';`), 1);
    assert.equal(
      bannedIn('plugins/a/b.ts', `import { inject } from 'tsyringe'; import { container } from './support/tidy/c.js';`),
      0,
    );
    assert.equal(bannedIn('cli/a.ts', `console.log('x')`), 1);
    assert.equal(bannedIn('plugins/a/b.ts', 'process.exit(1)'), 1);
    assert.equal(bannedIn('cli/a.ts', 'process.exit(1)'), 0);
    assert.equal(bannedIn('plugins/a/b.ts', `// ${'TO' + 'DO'}: later`), 1);
  });

  it('finds sleeps in tests only', () => {
    const sleeps = [
      'await new Promise((resolve) => setTimeout(resolve, 10));',
      'await new Promise<void>((done) => { setTimeout(done, 10); });',
      `import { setTimeout as sleep } from 'node:timers/promises';`,
    ];
    for (const sleep of sleeps) {
      assert.equal(bannedIn('test/a.test.ts', sleep), 1, sleep);
      assert.equal(bannedIn('plugins/a/b.ts', sleep), 0, sleep);
    }
    assert.equal(
      bannedIn('test/a.test.ts', `new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 9));`),
      0,
    );
  });

  it('finds files that only tests use, and entries that are missing', () => {
    const sources = [
      sourceOf(
        'cli/kernel.ts',
        `import './used.js'; await import('./lazy.js'); new URL('../workers/w/entry.js', import.meta.url);`,
      ),
      sourceOf('cli/used.ts', ''),
      sourceOf('cli/lazy.ts', ''),
      sourceOf('workers/w/entry.ts', ''),
      sourceOf('store/tested.ts', ''),
      sourceOf('protocol/tested.ts', ''),
      sourceOf('protocol/dead.ts', ''),
      sourceOf(
        'test/a.test.ts',
        `import '../store/tested.js'; import '../protocol/tested.js'; import './support/s.js';`,
      ),
      sourceOf('test/support/s.ts', ''),
      sourceOf('test/golden/tool.ts', '// node dist/test/golden/tool.js FILE'),
      sourceOf('test/support/dead.ts', ''),
    ];
    assert.deepEqual(deadFiles(sources, { bin: { kernel: 'dist/cli/kernel.js', other: 'dist/cli/other.js' } }), [
      'package.json names cli/other.ts, which does not exist',
      'store/tested.ts: nothing leads here',
      'protocol/dead.ts: nothing leads here',
      'test/support/dead.ts: nothing leads here',
    ]);
  });
});
