import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { filesBelow, smallFiles, smallStore } from './support/store-folder.js';
import { driver } from './support/suite.js';
import { defaultKind, startTarget, type Target } from './support/target.js';

describe('a store in use', function () {
  this.timeout(60_000);
  let storeDir: string;
  let served: Target | undefined;

  before(function () {
    if (defaultKind === 'jvm') this.skip();
  });
  beforeEach(() => {
    storeDir = mkdtempSync(join(tmpdir(), 'mqkernel-lock-'));
  });
  afterEach(async () => {
    await served?.kill9();
    served = undefined;
    rmSync(storeDir, { recursive: true, force: true });
  });

  const start = (): Promise<Target> => startTarget({ storeDir, options: smallFiles });

  it('by the real one is refused, naming its process, and nothing in it changes', async () => {
    const java = await driver();
    await java.openStore(storeDir, smallStore);
    const before = filesBelow(storeDir);
    const expected = new RegExp(`ended with exit code 1 .*the store ${storeDir} is in use: process ${java.pid} `, 's');
    await assert.rejects(start(), expected);
    assert.deepEqual([...filesBelow(storeDir).keys()], [...before.keys()]);
    await java.closeStore(storeDir);
    served = await start();
  });

  it('by ours is refused to another of ours', async () => {
    served = await start();
    await assert.rejects(start(), /ended with exit code 1 .*is in use: another mqkernel broker/s);
    assert.ok(existsSync(join(storeDir, 'abort')));
    await served.kill9();
    served = await start();
  });

  // Node can take no file lock as Java does (see acquireStoreLock). This test tells when that changes.
  it('by ours is not refused to the real one', async () => {
    served = await start();
    const java = await driver();
    await java.openStore(storeDir, smallStore);
    await java.closeStore(storeDir);
  });
});
