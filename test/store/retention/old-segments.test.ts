import assert from 'node:assert/strict';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { segmentName } from '../../../store/files/paths.js';
import { newLogMin, removeOldest, segmentAges, type DeletionRules } from '../../../store/retention/old-segments.js';
import { FakeClock } from '../../support/fake-clock.js';
import { LossyFiles } from '../../support/lossy-files.js';

const SEGMENT = 1000;
const rules: DeletionRules = {
  segmentBytes: SEGMENT,
  writtenBeforeMs: 100,
  forced: 0,
  filesMax: 10,
  settledEnd: Number.POSITIVE_INFINITY,
};
const aged = (...times: number[]) => times.map((modifiedMs, index) => ({ base: index * SEGMENT, modifiedMs }));

describe('which files of the log may go', () => {
  it('are the first ones that are old enough', () => {
    assert.equal(newLogMin(aged(10, 100, 101, 50, 500), 0, rules), 2000, 'a younger one keeps what follows');
    assert.equal(newLogMin(aged(101, 10, 10), 0, rules), 0);
    assert.equal(newLogMin([], 0, rules), 0);
  });

  it('are never the last one', () => {
    assert.equal(newLogMin(aged(1), 0, rules), 0);
    assert.equal(newLogMin(aged(1, 1), 0, rules), 1000);
    assert.equal(newLogMin(aged(1), 0, { ...rules, forced: 5 }), 0);
  });

  it('are at most so many at once', () => {
    assert.equal(newLogMin(aged(...Array.from({ length: 20 }, () => 1)), 0, rules), 10_000);
    assert.equal(newLogMin(aged(...Array.from({ length: 20 }, () => 1)), 0, { ...rules, forced: 15 }), 10_000);
  });

  it('are as many as a full disk wants, whatever their age', () => {
    assert.equal(newLogMin(aged(900, 900, 900, 900), 0, { ...rules, forced: 2 }), 2000);
    assert.equal(newLogMin(aged(1, 1, 1, 900), 0, { ...rules, forced: 1 }), 3000, 'old ones go besides');
  });

  it('are synced, and in the queues', () => {
    assert.equal(newLogMin(aged(1, 1, 1, 1), 0, { ...rules, settledEnd: 2999 }), 2000);
    assert.equal(newLogMin(aged(1, 1, 1, 1), 0, { ...rules, settledEnd: 999 }), 0);
    assert.equal(newLogMin(aged(900, 900, 900), 0, { ...rules, forced: 2, settledEnd: 1000 }), 1000);
  });

  it('leave out what the log has given up already', () => {
    assert.equal(newLogMin(aged(900, 900, 900), 2000, { ...rules, forced: 1 }), 2000);
    assert.equal(newLogMin(aged(900, 900, 900, 900), 2000, { ...rules, forced: 1 }), 3000);
  });

  it('are read with their times; foreign names are none', () => {
    const clock = new FakeClock(5000);
    const files = new MemoryFiles(1 << 20, clock);
    for (const base of [0, 1000]) {
      files.createComplete(`/s/commitlog/${segmentName(base)}`, SEGMENT, '/s/.tmp').write(Buffer.from('x'), 0, 1, 0);
      clock.advance(70);
    }
    files.replace('/s/commitlog/notes', 'x', false);
    assert.deepEqual(segmentAges(files, '/s/commitlog'), [
      { base: 0, modifiedMs: 5000 },
      { base: 1000, modifiedMs: 5070 },
    ]);
    assert.deepEqual(segmentAges(files, '/none'), []);
  });
});

describe('the oldest file of the log', () => {
  function log(files: LossyFiles | MemoryFiles): void {
    for (const base of [0, 1000, 2000]) files.createComplete(`/s/commitlog/${segmentName(base)}`, SEGMENT, '/s/.tmp');
  }

  it('goes when it lies below the beginning, the last one never', () => {
    const files = new MemoryFiles(1 << 20);
    log(files);
    const next = (logMin: number): string | undefined => removeOldest(files, '/s/commitlog', SEGMENT, logMin);
    assert.equal(next(999), undefined);
    assert.deepEqual([next(1500), next(1500)], [segmentName(0), undefined]);
    assert.deepEqual([next(9000), next(9000)], [segmentName(1000), undefined]);
    assert.deepEqual(files.list('/s/commitlog'), [segmentName(2000)]);
  });

  it('is gone after a power cut, too, and the one after it is not gone without it', () => {
    for (const cut of [1, 2, 3, 4]) {
      const files = new LossyFiles();
      log(files);
      files.cutAt(files.operations + cut);
      assert.throws(() => {
        for (;;) if (removeOldest(files, '/s/commitlog', SEGMENT, 2000) === undefined) files.cutNow();
      }, /off|cut/);
      for (const loss of ['everything', 'nothing'] as const) {
        const left = files.restart(loss).list('/s/commitlog');
        assert.deepEqual(left, [0, 1000, 2000].map(segmentName).slice(3 - left.length), `cut ${cut}, ${loss} is lost`);
      }
    }
  });
});
