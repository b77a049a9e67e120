import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KernelError } from '../../../kernel/base/errors.js';
import { nodeFiles } from '../../../store/files/node-files.js';
import { ConfigFile, type ReplaceFile } from '../../../store/metadata/config-file.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { tempDir } from '../../support/temp-dir.js';

const replaceNow: ReplaceFile = async (path, content, keepBackup) => nodeFiles.replace(path, content, keepBackup);

/** Accepts `ok:…` only. */
function decode(content: Buffer): string {
  const text = content.toString();
  if (!text.startsWith('ok:')) throw new Error('not ok');
  return text.slice(3);
}

interface Place {
  readonly file?: string;
  readonly backup?: string;
  readonly segments?: boolean;
}

function loaded(dir: string, place: Place): { value: string | undefined; warnings: number } {
  const path = join(dir, 'x.json');
  const commitLogDir = join(dir, 'commitlog');
  mkdirSync(commitLogDir, { recursive: true });
  if (place.file !== undefined) writeFileSync(path, place.file);
  if (place.backup !== undefined) writeFileSync(`${path}.bak`, place.backup);
  if (place.segments === true) writeFileSync(join(commitLogDir, '0'.repeat(20)), 'x');
  const logger = recordingLogger();
  const value = new ConfigFile({ path, commitLogDir }, nodeFiles, replaceNow, logger).load(decode);
  return { value, warnings: logger.lines.filter(({ level }) => level === 'warn').length };
}

describe('store/metadata/config-file: reading', () => {
  const cases: readonly [what: string, place: Place, value: string | undefined, warnings: number][] = [
    ['nothing there is a first start, stored messages or not', { segments: true }, undefined, 0],
    ['the file', { file: 'ok:1', backup: 'ok:0', segments: true }, '1', 0],
    ['B03a: an empty file falls back to its backup', { file: '', backup: 'ok:0', segments: true }, '0', 1],
    ['a broken file falls back to its backup', { file: '{"a', backup: 'ok:0', segments: true }, '0', 1],
    ['a lost file falls back to its backup', { backup: 'ok:0', segments: true }, '0', 1],
    ['empty files without stored messages are a first start', { file: '', backup: '' }, undefined, 0],
  ];
  for (const [what, place, value, warnings] of cases) {
    it(what, () => {
      using dir = tempDir();
      assert.deepEqual(loaded(dir.path, place), { value, warnings });
    });
  }

  const refused: readonly [what: string, place: Place][] = [
    ['B03b: empty file and backup beside stored messages', { file: '', backup: '', segments: true }],
    ['an empty file without a backup beside stored messages', { file: '', segments: true }],
    ['a broken file without a backup', { file: '{"a' }],
    ['a broken file with an empty backup', { file: '{"a', backup: '' }],
  ];
  for (const [what, place] of refused) {
    it(`refuses ${what}, naming the file`, () => {
      using dir = tempDir();
      assert.throws(
        () => loaded(dir.path, place),
        (error) => error instanceof KernelError && error.message.includes(join(dir.path, 'x.json')),
      );
    });
  }
});

describe('store/metadata/config-file: writing', () => {
  it('keeps the content before as .bak', async () => {
    using dir = tempDir();
    const path = join(dir.path, 'config', 'x.json');
    const file = new ConfigFile({ path }, nodeFiles, replaceNow, recordingLogger());
    await file.save(() => 'ok:1');
    await file.save(() => 'ok:2');
    assert.equal(readFileSync(path, 'utf8'), 'ok:2');
    assert.equal(readFileSync(`${path}.bak`, 'utf8'), 'ok:1');
    assert.equal(file.dirty, false);
  });

  it('makes one more write of all that is asked for while one runs, and it holds the newest state', async () => {
    const written: string[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const replace: ReplaceFile = async (_path, content) => {
      await gate;
      written.push(content);
    };
    const file = new ConfigFile({ path: '/nowhere/x' }, nodeFiles, replace, recordingLogger());
    let state = 1;
    const saves = [file.save(() => String(state))];
    await Promise.resolve();
    for (state = 2; state <= 50; state++) saves.push(file.save(() => String(state)));
    state = 50;
    open();
    await Promise.all(saves);
    assert.deepEqual(written, ['1', '50']);
  });

  it('rejects when the disk refuses, stays dirty, logs once, and recovers', async () => {
    let broken = true;
    const replace: ReplaceFile = () => (broken ? Promise.reject(new Error('ENOSPC')) : Promise.resolve());
    const logger = recordingLogger();
    const file = new ConfigFile({ path: '/nowhere/x' }, nodeFiles, replace, logger);
    await assert.rejects(
      file.save(() => 'ok:1'),
      /cannot write \/nowhere\/x: ENOSPC/,
    );
    await assert.rejects(
      file.save(() => 'ok:1'),
      KernelError,
    );
    assert.equal(file.dirty, true);
    broken = false;
    await file.save(() => 'ok:1');
    assert.equal(file.dirty, false);
    assert.deepEqual(
      logger.lines.map(({ level }) => level),
      ['error', 'info'],
    );
  });

  it('does nothing without a path (memory store)', async () => {
    const replace: ReplaceFile = () => Promise.reject(new Error('must not be called'));
    const file = new ConfigFile({ path: undefined }, nodeFiles, replace, recordingLogger());
    assert.equal(file.load(decode), undefined);
    await file.save(() => assert.fail('must not be encoded'));
    assert.equal(file.dirty, false);
  });
});
