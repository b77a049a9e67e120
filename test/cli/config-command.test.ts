import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadOptions } from '../../config/load.js';
import { declarations } from '../../config/options.js';
import { runKernel } from '../support/kernel-command.js';

describe('kernel config', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mqkernel-cli-config-'));
  const file = join(dir, 'broker.conf');
  after(() => rmSync(dir, { recursive: true }));

  it('prints a settings file that means the same when it is read again', async () => {
    const { exitCode, stdout } = await runKernel([
      'config',
      'print',
      '--set',
      'brokerName=a\\b',
      '--set',
      'syncFlushTimeout=17',
    ]);
    assert.equal(exitCode, 0);
    assert.match(stdout, /# .*\[ms\] \| set by --set syncFlushTimeout=17\nsyncFlushTimeout=17\n/);
    writeFileSync(file, stdout);
    const again = (await loadOptions({ file })).options;
    const once = (await loadOptions({})).options;
    assert.deepEqual(again, { ...once, brokerName: 'a\\b', syncFlushTimeout: 17 });
  });

  it('prints JSON with the place where an option was set', async () => {
    writeFileSync(file, 'listenPort=20911\n');
    const { stdout } = await runKernel(['config', 'print', '--json', '-c', file]);
    const options = JSON.parse(stdout) as { name: string; value: unknown; setBy: string }[];
    assert.equal(options.length, declarations.size);
    const { value, setBy } = options.find(({ name }) => name === 'listenPort')!;
    assert.deepEqual({ value, setBy }, { value: 20911, setBy: `${file}:1` });
    assert.equal(options.find(({ name }) => name === 'haListenPort')!.setBy, 'derived');
  });

  it('checks a file: what is wrong ends with 2, what is without effect is said', async () => {
    writeFileSync(file, 'brokrName=x\ntransientStorePoolEnable=true\n');
    const fine = await runKernel(['config', 'check', '-c', file]);
    assert.equal(fine.exitCode, 0, fine.stderr);
    assert.match(fine.stdout, /broker\.conf:1: unknown key brokrName is ignored; did you mean brokerName\?/);
    assert.match(fine.stdout, /without effect: transientStorePoolEnable/);
    writeFileSync(file, 'listenPort=x\n');
    const wrong = await runKernel(['config', 'check', '-c', file]);
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /^OPTION_INVALID: listenPort \(.*broker\.conf:1\): "x" is not a whole number.*\n$/);
    const topology = await runKernel(['config', 'check', '--set', 'topology=fusd']);
    assert.equal(topology.exitCode, 2);
    assert.match(topology.stderr, /did you mean fused\?/);
  });
});
