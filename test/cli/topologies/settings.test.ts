import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { topologiesSettings, type TopologiesFlags } from '../../../cli/bench/topologies/settings.js';
import { ExitCode, KernelError } from '../../../kernel/base/errors.js';
import { runKernel } from '../../support/kernel-command.js';
import { tempDir } from '../../support/temp-dir.js';

const flags: TopologiesFlags = {
  size: 128,
  window: 64,
  connections: 1,
  batch: 32,
  rate: 5000,
  header: 'binary',
  seconds: 1,
  warm: 0,
  turns: 3,
};

const usage = (text: RegExp) => (error: unknown) =>
  error instanceof KernelError && error.exitCode === ExitCode.usage && text.test(error.line());

describe('settings of kernel bench topologies', () => {
  it('compares all presets, then the files', () => {
    using dir = tempDir();
    const mine = join(dir.path, 'mine.json');
    const fused = join(dir.path, 'fused.json');
    writeFileSync(mine, '{"commitlog": "main", "reput": "own"}');
    writeFileSync(fused, '{"reput": "main"}');
    const { topologies } = topologiesSettings([mine, fused], flags);
    assert.deepEqual(
      topologies.map(({ name, value }) => [name, value]),
      [
        ['dedicated', 'dedicated'],
        ['fused', 'fused'],
        ['paired', 'paired'],
        ['mine', mine],
        [fused, fused],
      ],
    );
    assert.equal(topologies[3]!.placements.commitlog, 'main');
  });

  it('chooses phases in their own order', () => {
    const names = (only?: string): string[] =>
      topologiesSettings([], { ...flags, ...(only === undefined ? {} : { only }) }).phases.map(({ name }) => name);
    assert.deepEqual(names(), ['produce', 'batch', 'consume', 'latency', 'transactions', 'delays']);
    assert.deepEqual(names('consume, produce'), ['produce', 'consume']);
  });

  it('knows what delay level 1 means at the brokers', () => {
    const { load } = topologiesSettings([], { ...flags, set: ['messageDelayLevel=1m', 'messageDelayLevel=7s 1m'] });
    assert.equal(load.firstLevelMs, 7000);
    assert.equal(topologiesSettings([], flags).load.firstLevelMs, 1000);
  });

  it('passes settings on to the brokers', () => {
    const set = ['syncFlushTimeout=1000'];
    assert.deepEqual(topologiesSettings([], { ...flags, flush: 'SYNC_FLUSH', set }).brokerSet, [
      'flushDiskType=SYNC_FLUSH',
      'syncFlushTimeout=1000',
    ]);
  });

  it('refuses what cannot be compared before anything is started', () => {
    using dir = tempDir();
    const file = join(dir.path, 't.json');
    writeFileSync(file, '{}');
    const refuse = (files: string[], more: Partial<TopologiesFlags>, text: RegExp): void =>
      assert.throws(() => topologiesSettings(files, { ...flags, ...more }), usage(text));
    refuse([], { only: 'produce,nothing' }, /no phase 'nothing'.*produce,batch,consume,latency/);
    refuse([file, file], {}, /given twice/);
    refuse([join(dir.path, 'none.json')], {}, /none\.json/);
    refuse([], { set: ['topology=fused'] }, /topology/);
    refuse([], { set: ['storePathRootDir=/x'] }, /storePathRootDir/);
    refuse([], { set: ['flushDiskTyp=SYNC_FLUSH'] }, /flushDiskTyp/);
    refuse([], { store: join(dir.path, 'none') }, /does not exist/);
  });

  it('ends a wrong command with exit code 2', async () => {
    for (const args of [
      ['--only', 'nothing'],
      ['--turns', '0'],
      ['--seconds', 'x'],
      ['--seconds', '0'],
      ['none.json'],
    ]) {
      const { exitCode, stdout, stderr } = await runKernel(['bench', 'topologies', ...args]);
      assert.equal(exitCode, ExitCode.usage, `${args.join(' ')}: ${stderr}`);
      assert.equal(stdout, '');
    }
  });
});
