import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { openFilesMax } from '../../../store/files/descriptors.js';

describe('openFilesMax', () => {
  it('gives what is wanted when the process may have many more', () => {
    assert.equal(openFilesMax(8, 1 / 4), 8);
    assert.equal(openFilesMax(0, 1 / 4), 1);
  });

  it('never gives more than its share of what the process may have', function () {
    if (process.platform !== 'linux') this.skip();
    const script = `import(${JSON.stringify(new URL('../../../store/files/descriptors.js', import.meta.url).href)}).then((m) => console.log(m.openFilesMax(5000, 1 / 4)))`;
    const printed = execFileSync('/bin/sh', ['-c', 'ulimit -n 400 && exec "$0" -e "$1"', process.execPath, script]);
    assert.equal(printed.toString().trim(), '100');
  });
});
