import assert from 'node:assert/strict';
import { mkdirSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MemoryFiles } from '../../store/files/memory-files.js';
import { acquireStoreLock } from '../../store/files/store-lock.js';
import { javaFiles, javaStore } from '../support/java-store.js';
import { runKernel } from '../support/kernel-command.js';
import { tempDir } from '../support/temp-dir.js';
import { treeHash } from '../support/tree-hash.js';

const golden = javaStore();

/** Puts the golden store of RocketMQ 4.9.7 on disk. */
function put(dir: string, files: MemoryFiles = javaFiles(golden, () => true)): void {
  for (const path of Object.keys(golden.files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), files.readAll(`/s/${path}`));
  }
}

describe('kernel store', function () {
  this.timeout(20_000);

  it('verify: 0 for a sound store, 1 for a damaged one, and says where; nothing is changed', async () => {
    using dir = tempDir();
    put(dir.path);
    const before = treeHash(dir.path);
    const sound = await runKernel(['store', 'verify', dir.path]);
    assert.equal(sound.exitCode, 0, sound.stderr);
    assert.match(sound.stdout, /^commit log +3 files of 4096 bytes, offsets 0 to \d+, 29 records$/m);
    assert.match(sound.stdout, /^no damage\n$/m);
    assert.equal(sound.stderr, '');
    assert.equal(treeHash(dir.path), before);
    const short = join(dir.path, 'commitlog', '00000000000000004096');
    truncateSync(short, 4000);
    const damaged = await runKernel(['store', 'verify', dir.path]);
    assert.equal(damaged.exitCode, 1);
    assert.match(
      damaged.stdout,
      new RegExp(`^DAMAGE +${short} at 4000: it has 4000 bytes instead of 4096\n +to do: restore`, 'm'),
    );
    assert.match(damaged.stdout, /^damaged; it ended there, --all looks for more$/m);
    const all = await runKernel(['store', 'verify', dir.path, '--all', '--json']);
    assert.equal(all.exitCode, 1);
    const report = JSON.parse(all.stdout) as { damaged: boolean; complete: boolean; findings: { file: string }[] };
    assert.deepEqual([report.damaged, report.complete, report.findings[0]?.file], [true, true, short]);
  });

  it('verify: takes sizes that were set, 2 for what is no store', async () => {
    using dir = tempDir();
    put(dir.path);
    const wrong = await runKernel(['store', 'verify', dir.path, '--set', 'mappedFileSizeCommitLog=8192']);
    assert.equal(wrong.exitCode, 1);
    assert.match(wrong.stdout, /has 4096 bytes instead of 8192/);
    for (const args of [
      ['store', 'verify', join(dir.path, 'config')],
      ['store', 'verify'],
      ['store', 'dump', '/no/such/folder'],
    ]) {
      const { exitCode, stderr } = await runKernel(args);
      assert.equal(exitCode, 2, args.join(' '));
      assert.notEqual(stderr, '');
    }
  });

  it('verify: only warns while a broker has the store', async () => {
    using dir = tempDir();
    put(dir.path);
    truncateSync(join(dir.path, 'commitlog', '00000000000000004096'), 4000);
    const lock = await acquireStoreLock(join(dir.path, 'lock'));
    try {
      const { exitCode, stdout, stderr } = await runKernel(['store', 'verify', dir.path]);
      assert.equal(exitCode, 0);
      assert.match(stderr, /the store is in use \(an mqkernel broker/);
      assert.match(stdout, /^note .*4000 bytes instead of 4096\n +to do: a broker runs: stop it/m);
    } finally {
      await lock.release();
    }
  });

  it('dump: lists queues, prints messages for people and as JSON lines', async () => {
    using dir = tempDir();
    put(dir.path);
    unlinkSync(join(dir.path, 'lock'));
    const before = treeHash(dir.path);
    const list = await runKernel(['store', 'dump', dir.path]);
    assert.equal(list.exitCode, 0, list.stderr);
    assert.match(list.stdout, /^GoldenTopic +queue 1 +offsets 0 to 11 +11 messages$/m);
    const queue = ['store', 'dump', dir.path, '--topic', 'GoldenTopic', '--queue', '1'];
    const people = await runKernel([...queue, '--from', '2', '--count', '1']);
    assert.match(people.stdout, /^GoldenTopic\/1 +offset 2$/m);
    assert.match(
      people.stdout,
      /^ +born +2023-11-14T22:13:20.123Z \(1700000000123\) at \[fe80:0:0:0:0:0:0:1\]:40000$/m,
    );
    assert.match(people.stdout, /^ +sysFlag +18: multi tags, born host IPv6$/m);
    assert.match(people.stdout, /^ +body +0x[0-9a-f]{400} … \d+ bytes in all$/m);
    const lines = (await runKernel([...queue, '--json', '--body', 'none'])).stdout.trim().split('\n');
    assert.equal(lines.length, 10, 'by default ten');
    const third = JSON.parse(lines[2]!) as { queueOffset: number; physicalOffset: number; properties: object };
    assert.deepEqual(
      [third.queueOffset, third.properties],
      [2, { KEYS: 'k5 other', UNIQ_KEY: '7F0000010005', TAGS: '标签' }],
    );
    const at = await runKernel(['store', 'dump', dir.path, '--at', String(third.physicalOffset), '--json']);
    assert.equal((JSON.parse(at.stdout) as { queueOffset: number }).queueOffset, 2);
    assert.equal(treeHash(dir.path), before);
  });

  it('dump: says what does not fit together, and what is not there', async () => {
    using dir = tempDir();
    put(dir.path);
    for (const [args, exitCode, says] of [
      [['--queue', '1'], 2, /--queue needs --topic/],
      [['--topic', 'T', '--from', '1'], 2, /--from needs/],
      [['--at', '1', '--topic', 'T'], 2, /--at names one message/],
      [['--topic', 'Nope'], 1, /no queue of topic Nope/],
      [['--topic', 'OddProps', '--queue', '7'], 1, /no queue 7 of topic OddProps/],
      [['--at', '1'], 1, /no record begins at physical offset 1/],
      [['--topic', 'OddProps', '--queue', '0', '--from', '5'], 0, /has the offsets 0 to 0/],
    ] as const) {
      const result = await runKernel(['store', 'dump', dir.path, ...args]);
      assert.equal(result.exitCode, exitCode, args.join(' '));
      assert.match(result.stderr, says);
    }
  });

  it('explains itself', async () => {
    for (const [args, says] of [
      [[], /verify.*\n?.*dump/s],
      [['verify'], /Exit codes: 0 no damage, 1 damage, 2 usage/],
      [['dump'], /Examples:/],
    ] as const) {
      const { exitCode, stdout } = await runKernel(['store', ...args, '--help']);
      assert.equal(exitCode, 0);
      assert.match(stdout, says);
    }
  });
});
