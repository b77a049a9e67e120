import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { join } from 'node:path';
import { acquireStoreLock } from '../../../store/files/store-lock.js';
import { tempDir } from '../../support/temp-dir.js';
import { until } from '../../support/until.js';

const locked = { code: 'STORE_LOCKED' };

async function inChild(lockPath: string): Promise<ChildProcess> {
  const module = new URL('../../../store/files/store-lock.js', import.meta.url).href;
  const script = `const { acquireStoreLock } = await import(${JSON.stringify(module)});
    await acquireStoreLock(${JSON.stringify(lockPath)});
    console.log('locked');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

describe('store lock', () => {
  it('lets one in at a time, and the next after it', async () => {
    using dir = tempDir();
    const path = join(dir.path, 'store/lock');
    const first = await acquireStoreLock(path);
    assert.equal(fs.readFileSync(path, 'utf8'), 'lock');
    await assert.rejects(acquireStoreLock(path), (error: Error & { code: string }) => {
      return error.code === 'STORE_LOCKED' && error.message.includes(join(dir.path, 'store'));
    });
    await first.release();
    const second = await acquireStoreLock(path);
    await second.release();
  });

  it('knows the store by its lock file, not by its name', async () => {
    using dir = tempDir();
    fs.mkdirSync(join(dir.path, 'store'));
    fs.symlinkSync(join(dir.path, 'store'), join(dir.path, 'other'));
    const lock = await acquireStoreLock(join(dir.path, 'store/lock'));
    await assert.rejects(acquireStoreLock(join(dir.path, 'other/lock')), locked);
    const independent = await acquireStoreLock(join(dir.path, 'third/lock'));
    await lock.release();
    await independent.release();
  });

  it('ends with its process, however that ends', async () => {
    using dir = tempDir();
    const path = join(dir.path, 'lock');
    const child = await inChild(path);
    await assert.rejects(acquireStoreLock(path), locked);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = await acquireStoreLock(path);
    await lock.release();
  });

  it('sees a file lock that another program holds', async function () {
    if (process.platform !== 'linux' || spawnSync('flock', ['--version']).status !== 0) this.skip();
    using dir = tempDir();
    const path = join(dir.path, 'lock');
    fs.writeFileSync(path, 'lock');
    const holder = spawn('flock', ['-F', path, 'sh', '-c', 'echo locked; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(holder.stdout, 'data');
    await assert.rejects(acquireStoreLock(path), (error: Error & { code: string }) => {
      return error.code === 'STORE_LOCKED' && /process \d+ holds its file lock/.test(error.message);
    });
    holder.kill();
    await once(holder, 'exit');
    let lock: Awaited<ReturnType<typeof acquireStoreLock>> | undefined;
    await until(async () => {
      lock = await acquireStoreLock(path).catch(() => undefined);
      return lock !== undefined;
    }, 'the lock after its holder ended');
    await lock?.release();
  });

  it('says so when the folder cannot be written', async () => {
    using dir = tempDir();
    fs.writeFileSync(join(dir.path, 'file'), '');
    await assert.rejects(acquireStoreLock(join(dir.path, 'file/lock')), { code: 'STORE_UNWRITABLE' });
  });
});
