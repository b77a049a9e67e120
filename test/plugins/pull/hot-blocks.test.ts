import assert from 'node:assert/strict';
import { KernelError } from '../../../kernel/base/errors.js';
import type { LogReader } from '../../../plugins/commitlog/contract.js';
import { ColdReads } from '../../../plugins/pull/cold-reads.js';
import { HotBlocks, type RecordSlice } from '../../../plugins/pull/hot-blocks.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { until } from '../../support/until.js';

const PAGE = 1024;
const MiB = 1 << 20;

/** A log in which each page of 1 KiB is filled with its number; counts what is read, and fails when told. */
class PageLog {
  minOffset = 0;
  maxOffset: number;
  reads = 0;
  bytesRead = 0;
  fail: Error | undefined;
  underWayMax = 0;
  #underWay = 0;

  constructor(bytes: number) {
    this.maxOffset = bytes;
  }

  readInto(target: Buffer, targetOffset: number, length: number, physicalOffset: number): void {
    this.reads++;
    this.bytesRead += length;
    if (this.fail !== undefined) throw this.fail;
    if (physicalOffset < this.minOffset || physicalOffset + length > this.maxOffset)
      throw new KernelError('LOG_READ_SHORT', '');
    for (let at = physicalOffset; at < physicalOffset + length;) {
      const end = Math.min(physicalOffset + length, at - (at % PAGE) + PAGE);
      target.fill(byteAt(at), targetOffset + at - physicalOffset, targetOffset + end - physicalOffset);
      at = end;
    }
  }

  async readIntoAsync(target: Buffer, targetOffset: number, length: number, physicalOffset: number): Promise<void> {
    this.underWayMax = Math.max(this.underWayMax, ++this.#underWay);
    await new Promise((resolve) => setImmediate(resolve));
    this.#underWay--;
    this.readInto(target, targetOffset, length, physicalOffset);
  }
}

function byteAt(physicalOffset: number): number {
  return Math.floor(physicalOffset / PAGE) % 251;
}

function bench(bytes: number): { log: PageLog; blocks: HotBlocks } {
  const log = new PageLog(bytes);
  return { log, blocks: new HotBlocks(log as Partial<LogReader> as LogReader, new ColdReads(3)) };
}

function check(slice: RecordSlice | undefined, physicalOffset: number, size: number): void {
  assert.ok(slice !== undefined);
  assert.equal(slice.size, size);
  for (let i = 0; i < size; i += 97)
    assert.equal(slice.bytes[slice.at + i], byteAt(physicalOffset + i), `byte ${i} of ${physicalOffset}`);
}

describe('hot blocks', () => {
  it('give records of any place and size, also over block ends, whatever was read before', () => {
    const { log, blocks } = bench(64 * MiB);
    const random = new SeededRandom(7);
    for (let i = 0; i < 2000; i++) {
      blocks.beginRound();
      const size = 1 + random.below(random.chance(0.05) ? MiB : 5000);
      const physicalOffset = random.below(log.maxOffset - size);
      check(blocks.record(physicalOffset, size, true), physicalOffset, size);
    }
  });

  it('spare reads when a queue is read on', () => {
    const { log, blocks } = bench(4 * MiB);
    for (let at = 0; at + 500 < log.maxOffset; at += 500) {
      blocks.beginRound();
      check(blocks.record(at, 500, true), at, 500);
    }
    assert.ok(log.reads < 40, `${log.reads} reads`);
    assert.equal(log.bytesRead, log.maxOffset);
  });

  it('follow the end of the log', () => {
    const { log, blocks } = bench(1000);
    check(blocks.record(0, 1000, true), 0, 1000);
    assert.equal(blocks.record(500, 1000, true), undefined);
    log.maxOffset = 3000;
    check(blocks.record(500, 1000, true), 500, 1000);
    check(blocks.record(2000, 1000, true), 2000, 1000);
  });

  it('leave what a round handed out alone until the next round', () => {
    const { blocks } = bench(128 * MiB);
    const random = new SeededRandom(3);
    for (let round = 0; round < 5; round++) {
      blocks.beginRound();
      const slices = Array.from({ length: 150 }, () => {
        const physicalOffset = random.below(127 * MiB);
        return { physicalOffset, slice: blocks.record(physicalOffset, 2000, true) };
      });
      for (const { physicalOffset, slice } of slices) check(slice, physicalOffset, 2000);
    }
  });

  it('leave alone what a round handed out of a block that an earlier round brought', () => {
    const { blocks } = bench(128 * MiB);
    blocks.record(0, 500, true);
    blocks.beginRound();
    const slice = blocks.record(5000, 2000, true);
    for (let i = 1; i < 100; i++) blocks.record(i * 262_144, 2000, true);
    check(slice, 5000, 2000);
  });

  it('forget a block whose memory another one took, also the one used last', async () => {
    const { blocks } = bench(128 * MiB);
    blocks.record(5000, 500, true);
    blocks.beginRound();
    for (let i = 1; i < 100; i++) await blocks.fetch(i * 262_144, 500);
    check(blocks.record(5000, 500, true), 5000, 500);
  });

  it('do not keep more for good because one round needed more', () => {
    const { blocks } = bench(128 * MiB);
    const count = (): number =>
      Array.from({ length: 512 }, (_, i) => blocks.holds(i * 262_144, 10)).filter(Boolean).length;
    blocks.beginRound();
    for (let i = 0; i < 200; i++) blocks.record(i * 262_144, 10, true);
    assert.equal(count(), 200);
    blocks.beginRound();
    blocks.record(300 * 262_144, 10, true);
    assert.ok(count() <= 64, `${count()} blocks are kept`);
  });

  it('do not load unless asked to', () => {
    const { log, blocks } = bench(MiB);
    assert.equal(blocks.record(0, 100, false), undefined);
    assert.equal(log.reads, 0);
    blocks.record(0, 100, true);
    check(blocks.record(200, 100, false), 200, 100);
  });

  it('know where the log begins', () => {
    const { log, blocks } = bench(MiB);
    log.minOffset = 100_000;
    assert.equal(blocks.record(99_000, 500, true), undefined);
    check(blocks.record(100_000, 500, true), 100_000, 500);
  });

  it('are fetched once for all who wait for the same', async () => {
    const { log, blocks } = bench(4 * MiB);
    assert.equal(blocks.holds(1000, 500), false);
    await Promise.all(Array.from({ length: 20 }, () => blocks.fetch(1000, 500)));
    assert.equal(log.reads, 1);
    assert.equal(blocks.holds(1000, 500), true);
    await blocks.fetch(262_144 - 10, 20);
    assert.equal(blocks.holds(262_144 - 10, 20), true);
    assert.equal(log.reads, 2);
    check(blocks.record(262_144 - 10, 20, false), 262_144 - 10, 20);
  });

  it('are fetched again after a read that failed', async () => {
    const { log, blocks } = bench(MiB);
    log.fail = Object.assign(new Error('EIO: read'), { code: 'EIO' });
    await assert.rejects(blocks.fetch(0, 100), /EIO/);
    log.fail = undefined;
    await blocks.fetch(0, 100);
    check(blocks.record(0, 100, false), 0, 100);
  });

  it('are read ahead for nobody in particular: a disk that fails then ends nothing', async () => {
    const { log, blocks } = bench(MiB);
    const unhandled: unknown[] = [];
    const keep = (error: unknown): void => void unhandled.push(error);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', keep);
    try {
      log.fail = Object.assign(new Error('EIO: read'), { code: 'EIO' });
      blocks.ahead(0);
      await until(() => log.reads === 1, 'the read ahead');
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', keep);
      for (const other of others) process.on('unhandledRejection', other);
    }
    assert.deepEqual(unhandled, []);
    log.fail = undefined;
    await blocks.fetch(262_144, 100);
    check(blocks.record(262_144, 100, false), 262_144, 100);
  });

  it('are not there after a fetch of what is gone, without an error', async () => {
    const { log, blocks } = bench(MiB);
    log.fail = new KernelError('LOG_READ_SHORT', 'gone');
    await blocks.fetch(0, 100);
    assert.equal(blocks.holds(0, 100), false);
  });

  it('take bounded memory while they are fetched', async () => {
    const { log, blocks } = bench(256 * MiB);
    await Promise.all(Array.from({ length: 1000 }, (_, i) => blocks.fetch(i * 262_144, 100)));
    assert.deepEqual([log.reads, log.underWayMax], [1000, 3]);
  });
});
