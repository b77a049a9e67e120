import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { declarations } from '../config/options.js';
import { bannedWords } from './support/tidy/banned.js';
import { layerViolations } from './support/tidy/layers.js';
import { deadFiles, type PackageFile } from './support/tidy/reachable.js';
import { sizeViolations } from './support/tidy/sizes.js';
import { readSources } from './support/tidy/sources.js';

describe('tidy', () => {
  const root = process.cwd();
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageFile & { name: string };
  const sources = readSources(root);

  it('looks at the sources of this package', () => {
    assert.equal(manifest.name, 'mqkernel', 'run the tests from the root of the repository');
    assert.ok(sources.length > 50);
  });

  it('keeps the layers', () => {
    assert.deepEqual(layerViolations(sources), []);
  });

  it('keeps files and functions short', () => {
    assert.deepEqual(sizeViolations(sources), []);
  });

  it('uses the better word', () => {
    assert.deepEqual(bannedWords(sources), []);
  });

  it('has no dead files', () => {
    assert.deepEqual(deadFiles(sources, manifest), []);
  });

  it('has no option that changes nothing and does not say so', () => {
    const readers = sources.filter(({ path }) => !/^(test|config\/(option-list|profiles|limits))/.test(path));
    const reads = (name: string): RegExp =>
      new RegExp(
        `(ptions|draft)\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\}(: Options|: Pick<Options| = (this\\.#?)?options)`,
      );
    const unread = [...declarations.values()]
      .filter(({ accepted, refused }) => accepted === undefined && refused === undefined)
      .filter(({ name }) => !readers.some(({ text }) => reads(name).test(text)))
      .map(({ name }) => name);
    assert.deepEqual(unread, []);
  });
});
