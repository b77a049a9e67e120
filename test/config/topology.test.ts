import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KernelError } from '../../kernel/base/errors.js';
import { checkTopology, loadTopology, services, threadsOf } from '../../config/topology.js';

describe('config/topology', () => {
  const preset = (topology: string): ReturnType<typeof loadTopology> => loadTopology({ topology, memory: false });

  it('gives each service a thread of its own by default', () => {
    assert.deepEqual([...threadsOf(preset('dedicated')).keys()], [...services]);
  });

  it('appends on the main thread when fused, and keeps apart what may wait for a disk', () => {
    assert.deepEqual(
      [...threadsOf(preset('fused'))],
      [
        ['flush', ['flush']],
        ['background', ['schedule', 'transaction']],
      ],
    );
  });

  it('pairs the writer with the flush, and dispatch with delays and checks', () => {
    assert.deepEqual(
      [...threadsOf(preset('paired'))],
      [
        ['writer', ['commitlog', 'flush']],
        ['reader', ['reput', 'schedule', 'transaction']],
        ['ha', ['ha']],
      ],
    );
  });

  it('runs everything in-process for the memory store, whatever is asked for', () => {
    assert.equal(threadsOf(loadTopology({ topology: 'dedicated', memory: true })).size, 0);
  });

  it('reads a file; what is missing in it is placed as in dedicated', () => {
    const dir = mkdtempSync(join(tmpdir(), 'mqkernel-topology-'));
    try {
      const path = join(dir, 'mine.json');
      writeFileSync(path, '{"reput": "main", "flush": "disk", "commitlog": "disk"}');
      const topology = preset(path);
      assert.equal(topology.reput, 'main');
      assert.equal(topology.schedule, 'own');
      assert.deepEqual(threadsOf(topology).get('disk'), ['commitlog', 'flush']);
      writeFileSync(path, '{"reput": ');
      assert.throws(() => preset(path), /mine\.json/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('says what is wrong', () => {
    const usage = (run: () => unknown, message: RegExp): void =>
      assert.throws(run, (error: unknown) => {
        assert.ok(error instanceof KernelError);
        assert.equal(error.exitCode, 2);
        assert.match(error.message, message);
        return true;
      });
    usage(() => preset('fusd'), /there is no topology fusd; did you mean fused\?/);
    usage(() => preset('toString'), /there is no topology toString/);
    usage(() => preset('./missing.json'), /missing\.json/);
    usage(() => checkTopology([], 'x'), /x: not a JSON object/);
    usage(() => checkTopology({ comitlog: 'own' }, 'x'), /there is no service comitlog; did you mean commitlog\?/);
    usage(() => checkTopology({ reput: 3 }, 'x'), /reput is placed on 3/);
    usage(() => checkTopology({ reput: 'a b' }, 'x'), /reput is placed on "a b"/);
  });
});
