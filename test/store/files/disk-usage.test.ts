import assert from 'node:assert/strict';
import { statfsSync } from 'node:fs';
import { measureDisk, usedRatio } from '../../../store/files/disk-usage.js';
import { tempDir } from '../../support/temp-dir.js';

const ratio = (used: number, usable: number): number => usedRatio({ total: used + usable, used, usable });

describe('disk usage', () => {
  it('is whole percent rounded up, of what programs may use (4.9: getDiskPartitionSpaceUsedPercent)', () => {
    assert.deepEqual(
      [ratio(0, 100), ratio(1, 99), ratio(90, 10), ratio(901, 99), ratio(1, 999_999), ratio(100, 0)],
      [0, 0.01, 0.9, 0.91, 0.01, 1],
    );
    assert.equal(
      usedRatio({ total: 200, used: 90, usable: 10 }),
      0.9,
      'what the system keeps for itself does not count',
    );
    assert.equal(usedRatio(undefined), -1);
    assert.equal(ratio(0, 0), -1);
  });

  it('is measured where a path lies; a missing path has none', async () => {
    using dir = tempDir();
    const usage = await measureDisk(dir.path);
    const { blocks, bsize } = statfsSync(dir.path);
    assert.equal(usage?.total, blocks * bsize);
    assert.ok(usage.used > 0 && usage.used + usage.usable <= usage.total);
    assert.equal(await measureDisk(`${dir.path}/none`), undefined);
  });
});
