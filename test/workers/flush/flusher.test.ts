import assert from 'node:assert/strict';
import { KernelError } from '../../../kernel/base/errors.js';
import { Fault, Watermark } from '../../../kernel/ring/watermarks.js';
import type { Flusher } from '../../../workers/flush/flusher.js';
import type { FlushBoot } from '../../../workers/flush/contract.js';
import { LogServices, runToRest } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';

const PAGE = 4096;

interface Bench {
  readonly store: LogServices;
  readonly disk: LossyFiles;
  readonly flusher: Flusher;
  /** Appends one record of so many bytes. */
  write(bytes: number): void;
  flushed(): number;
}

function bench(changes: Partial<FlushBoot> = {}, segmentBytes = 1 << 20): Bench {
  const disk = new LossyFiles();
  const store = new LogServices({ files: disk, segmentBytes });
  const appender = store.appender();
  return {
    store,
    disk,
    flusher: store.flusher(changes),
    write(bytes) {
      store.put({ body: Buffer.alloc(bytes - 92) });
      store.append(appender);
    },
    flushed: () => store.mark(Watermark.flushed),
  };
}

describe('flusher under SYNC_FLUSH', () => {
  it('syncs whatever was appended, at once, and tells it', () => {
    const { store, flusher, write, flushed } = bench({ sync: true });
    assert.ok(flusher.step() > 0, 'rests while nothing is dirty');
    write(200);
    store.fallAsleep('network');
    store.fallAsleep('reput');
    assert.equal(flusher.step(), 0);
    assert.equal(flushed(), 200);
    assert.equal(store.mark(Watermark.flushedTimeMs), store.clock.wallMs());
    assert.deepEqual([store.rings('network'), store.rings('reput')], [1, 1]);
    assert.ok(flusher.step() > 0);
    store.close();
  });

  it('takes everything that was appended meanwhile into one sync', () => {
    const { store, disk, flusher, write, flushed } = bench({ sync: true });
    for (let i = 0; i < 10; i++) write(200);
    const before = disk.operations;
    runToRest(flusher);
    assert.equal(flushed(), 2000);
    assert.equal(disk.operations - before, 1);
    store.close();
  });

  it('moves over a roll only when both segments are synced', () => {
    const { store, disk, flusher, write, flushed } = bench({ sync: true }, 4096);
    write(3000);
    write(2000);
    disk.fail({ operation: 'sync', path: '00000000000000004096', code: 'EIO' });
    runToRest(flusher);
    assert.equal(flushed(), 0, 'the first one alone counts for nothing');
    assert.equal(store.watermarks.raised(Fault.flush), true);
    store.close();
  });

  it('survives a power cut with everything it called flushed', () => {
    const { store, disk, flusher, write } = bench({ sync: true }, 4096);
    write(3000);
    write(2000);
    write(100);
    runToRest(flusher);
    write(300);
    const end = store.mark(Watermark.flushed);
    const before = store.logBytes(0, end);
    const after = new LogServices({ files: disk.restart('everything'), segmentBytes: 4096 });
    assert.deepEqual(after.logBytes(0, end), before);
    store.close();
  });

  it('never moves after a failed sync, although the next one would succeed (B01)', async () => {
    const { store, disk, flusher, write, flushed } = bench({ sync: true });
    write(200);
    runToRest(flusher);
    disk.fail({ operation: 'sync', path: 'commitlog', code: 'EIO' });
    write(200);
    store.fallAsleep('network');
    runToRest(flusher);
    assert.equal(flushed(), 200);
    assert.equal(store.watermarks.raised(Fault.flush), true);
    assert.equal(store.rings('network'), 1, 'whoever waits is told');
    write(200);
    store.clock.advance(60_000);
    const before = disk.operations;
    runToRest(flusher);
    await assert.rejects(
      Promise.resolve().then(() => flusher.calls.flushNow()),
      (error: Error) => {
        return error instanceof KernelError && error.code === 'FLUSH_FAILED';
      },
    );
    assert.equal(disk.operations, before, 'no second sync is tried: it could not be believed');
    assert.equal(flushed(), 200);
    assert.match(store.logger.lines[0].message, /nothing after the last good sync is acknowledged/);
    store.close();
  });
});

describe('flusher under ASYNC_FLUSH', () => {
  it('looks once an interval', () => {
    const { store, flusher, write, flushed } = bench();
    write(5 * PAGE);
    assert.equal(flusher.step(), 500);
    assert.equal(flushed(), 0);
    store.clock.advance(499);
    assert.equal(flusher.step(), 1);
    assert.equal(flushed(), 0);
    store.clock.advance(1);
    flusher.step();
    assert.equal(flushed(), 5 * PAGE);
    store.close();
  });

  it('leaves fewer dirty pages than the least to the thorough flush', () => {
    const { store, flusher, write, flushed } = bench();
    write(4 * PAGE - 1);
    store.clock.advance(500);
    flusher.step();
    assert.equal(flushed(), 0);
    write(100);
    store.clock.advance(500);
    flusher.step();
    assert.equal(flushed(), 4 * PAGE + 99);

    write(100);
    store.clock.advance(9_999);
    flusher.step();
    assert.equal(flushed(), 4 * PAGE + 99);
    store.clock.advance(1);
    flusher.step();
    assert.equal(flushed(), 4 * PAGE + 199);
    store.close();
  });

  it('comes to the thorough flush at its time, not up to an interval later', () => {
    const { store, flusher, write, flushed } = bench();
    write(200);
    store.clock.advance(9_700);
    assert.equal(flusher.step(), 300);
    store.clock.advance(300);
    flusher.step();
    assert.equal(flushed(), 200);
    store.close();
  });

  it('flushes every page when the least is 0', () => {
    const { store, flusher, write, flushed } = bench({ leastPages: 0 });
    write(100);
    store.clock.advance(500);
    flusher.step();
    assert.equal(flushed(), 100);
    store.close();
  });

  it('does not mind the wall clock', () => {
    const { store, flusher, write, flushed } = bench();
    write(5 * PAGE);
    store.clock.stepWall(3_600_000);
    flusher.step();
    assert.equal(flushed(), 0);
    store.clock.stepWall(-7_200_000);
    store.clock.advance(500);
    flusher.step();
    assert.equal(flushed(), 5 * PAGE);
    store.close();
  });

  it('flushes at once when asked', async () => {
    const { store, flusher, write, flushed } = bench();
    write(100);
    assert.equal(await flusher.calls.flushNow(), 100);
    assert.equal(flushed(), 100);
    assert.equal(await flusher.calls.flushNow(), 100);
    store.close();
  });

  it('stays where it was when a sync fails', () => {
    const { store, disk, flusher, write, flushed } = bench();
    disk.fail({ operation: 'sync', path: 'commitlog', code: 'EIO' });
    write(5 * PAGE);
    for (let i = 0; i < 5; i++) {
      store.clock.advance(10_000);
      flusher.step();
    }
    assert.equal(flushed(), 0);
    store.close();
  });
});
