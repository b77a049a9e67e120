import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preflight } from '../../cli/preflight.js';
import { loadOptions } from '../../config/load.js';
import { known } from '../../config/sources.js';
import type { Options } from '../../config/options.js';
import { testMachine } from '../config/machine.js';

describe('cli/preflight', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mqkernel-preflight-'));
  after(() => rmSync(dir, { recursive: true }));

  async function optionsOf(values: Partial<Options>): Promise<Options> {
    const assignments = Object.entries({ storePathRootDir: join(dir, 'a', 'b'), ...values });
    return (
      await loadOptions({ machine: testMachine(), assignments: assignments.map(([n, v]) => known(n, v, 'test')) })
    ).options;
  }

  async function probed(values: Partial<Options>): Promise<number[]> {
    const ports: number[] = [];
    const machine = testMachine({ isPortFree: async (port) => ports.push(port) > 0 });
    await preflight(await optionsOf(values), machine);
    return ports;
  }

  it('probes the ports that the role will listen on', async () => {
    assert.deepEqual(await probed({ role: 'all' }), [9876, 10_911, 10_909]);
    assert.deepEqual(await probed({ role: 'broker' }), [10_911, 10_909]);
    assert.deepEqual(await probed({ role: 'namesrv' }), [9876]);
  });

  it('takes a store folder that does not exist yet, and makes nothing', async () => {
    await probed({});
    assert.equal(existsSync(join(dir, 'a')), false);
  });

  it('does not look at the folder when nothing is stored there', async () => {
    writeFileSync(join(dir, 'file'), '');
    const storePathRootDir = join(dir, 'file', 'store');
    await probed({ storePathRootDir, memory: true });
    await probed({ storePathRootDir, role: 'namesrv' });
    await assert.rejects(probed({ storePathRootDir }), /it is not a folder/);
    await assert.rejects(probed({ storePathCommitLog: storePathRootDir }), /storePathCommitLog .*it is not a folder/);
  });

  it('names port and server', async () => {
    const machine = testMachine({ isPortFree: async (port) => port !== 10_909 });
    await assert.rejects(
      preflight(await optionsOf({}), machine),
      /the broker cannot listen on all addresses port 10909 \(fastListenPort\)/,
    );
  });
});
