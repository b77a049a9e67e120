import assert from 'node:assert/strict';
import { threadId } from 'node:worker_threads';
import { silentLogger } from '../../../kernel/base/logger.js';
import { PiscinaPool } from '../../../kernel/threads/pool.js';
import type { TaskArgs } from '../../support/pool-task.js';

const taskUrl = new URL('../../support/pool-task.js', import.meta.url);

describe('pool', () => {
  let pool: PiscinaPool;
  afterEach(() => pool.stop().catch(() => undefined));
  const run = (args: TaskArgs, options = {}): Promise<number> => pool.run<number>(taskUrl, args, options);

  it('runs a task on another thread', async () => {
    pool = new PiscinaPool(silentLogger);
    assert.notEqual(await run({ kind: 'thread' }), threadId);
  });

  it('moves what is in the transfer list', async () => {
    pool = new PiscinaPool(silentLogger);
    const bytes = new ArrayBuffer(1000);
    assert.equal(await run({ kind: 'length', bytes }, { transfer: [bytes] }), 1000);
    assert.equal(bytes.byteLength, 0);
  });

  it('rejects with the error of the task, and goes on', async () => {
    pool = new PiscinaPool(silentLogger);
    await assert.rejects(run({ kind: 'fail' }), { name: 'TypeError', message: 'the task failed' });
    await run({ kind: 'thread' });
  });

  it('rejects at its bound, naming the settings, and takes tasks again later', async () => {
    pool = new PiscinaPool(silentLogger, { threadsMax: 1, queueMax: 2 });
    const word = new SharedArrayBuffer(4);
    const held = [1, 2, 3].map(() => run({ kind: 'untilSet', word }));
    await assert.rejects(run({ kind: 'thread' }), { code: 'POOL_FULL', message: /2 tasks wait for 1 threads/ });
    Atomics.store(new Int32Array(word), 0, 1);
    Atomics.notify(new Int32Array(word), 0);
    assert.equal(new Set(await Promise.all(held)).size, 1);
    await run({ kind: 'thread' });
  });

  it('can be told to give up on a task', async () => {
    pool = new PiscinaPool(silentLogger);
    const abort = new AbortController();
    const task = run({ kind: 'forever' }, { signal: abort.signal });
    setImmediate(() => abort.abort());
    await assert.rejects(task, { name: 'AbortError' });
  });

  it('lets tasks in hand finish when it stops, also those that wait, and takes no more', async () => {
    pool = new PiscinaPool(silentLogger, { threadsMax: 1 });
    const word = new SharedArrayBuffer(4);
    const held = [run({ kind: 'untilSet', word }), run({ kind: 'thread' })];
    const stopped = pool.stop();
    await assert.rejects(run({ kind: 'thread' }), { code: 'POOL_STOPPED' });
    Atomics.store(new Int32Array(word), 0, 1);
    Atomics.notify(new Int32Array(word), 0);
    assert.equal((await Promise.all(held)).length, 2);
    await stopped;
  });

  it('does not wait for ever for a task when it stops', async () => {
    pool = new PiscinaPool(silentLogger, { threadsMax: 1, stopTimeoutMs: 50 });
    const tasks = [run({ kind: 'forever' }), run({ kind: 'thread' })].map((task) =>
      assert.rejects(task, /Terminating/),
    );
    await assert.rejects(pool.stop(), { code: 'POOL_HUNG', message: /2 tasks.*50 ms/ });
    await Promise.all(tasks);
  });

  it('costs nothing before its first task', async () => {
    pool = new PiscinaPool(silentLogger);
    await pool.stop();
    await pool.stop();
  });
});
