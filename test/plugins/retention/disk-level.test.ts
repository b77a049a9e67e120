import assert from 'node:assert/strict';
import { diskLevel, reclaimPercent, type DiskLevel } from '../../../plugins/retention/disk-level.js';
import type { DiskUsage } from '../../../store/files/disk-usage.js';

const limits = { reclaim: 75, force: 85, refuse: 90 };
const GiB = 2 ** 30;
/** A disk of 100 GiB. */
const disk = (percent: number): DiskUsage => ({
  total: 100 * GiB,
  used: percent * GiB,
  usable: (100 - percent) * GiB,
});
const level = (log: number, queues = log): DiskLevel => diskLevel(disk(log), disk(queues), limits, GiB);

describe('the level of the disks', () => {
  it('asks for old files above 75 %, for the oldest above 85 %, and refuses sends above 90 %', () => {
    assert.deepEqual(level(75), { full: false, reclaim: false, forced: 0 });
    assert.deepEqual(level(76), { full: false, reclaim: true, forced: 0 });
    assert.deepEqual(level(85), { full: false, reclaim: true, forced: 0 });
    assert.deepEqual(level(86), { full: false, reclaim: true, forced: 1 });
    assert.deepEqual(level(90), { full: false, reclaim: true, forced: 5 });
    assert.deepEqual(level(91), { full: true, reclaim: true, forced: 6 });
    assert.deepEqual(level(100), { full: true, reclaim: true, forced: 15 });
  });

  it('counts a part of a percent as a whole one, as 4.9 does', () => {
    assert.deepEqual(level(90.1), { full: true, reclaim: true, forced: 6 });
    assert.deepEqual(level(75.001), { full: false, reclaim: true, forced: 0 });
  });

  it('looks at the disk of the queues, too', () => {
    assert.deepEqual(level(10, 76), { full: false, reclaim: true, forced: 0 });
    assert.deepEqual(level(10, 95), { full: true, reclaim: true, forced: 1 });
    assert.deepEqual(level(88, 10), { full: false, reclaim: true, forced: 3 });
  });

  it('takes a disk that says nothing as one that may be full soon, and refuses nothing', () => {
    assert.deepEqual(diskLevel(undefined, disk(1), limits, GiB), { full: false, reclaim: true, forced: 0 });
  });

  it('never refuses at 100', () => {
    const never = { reclaim: 95, force: 100, refuse: 100 };
    assert.deepEqual(diskLevel(disk(100), disk(100), never, GiB), { full: false, reclaim: true, forced: 0 });
  });

  it('takes diskMaxUsedSpaceRatio outside of 10 to 95 as the nearest (4.9: getDiskMaxUsedSpaceRatio)', () => {
    assert.deepEqual([0, 9, 10, 75, 95, 96, 1000].map(reclaimPercent), [10, 10, 10, 75, 95, 95, 95]);
  });
});
