import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../kernel/base/errors.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import { RawClient } from '../support/raw-client.js';
import { tempDir } from '../support/temp-dir.js';
import { until } from '../support/until.js';
import { auditPart, auditSoon } from './support/audit.js';
import type { BrokerProcess } from './support/broker-process.js';
import type { Load } from './support/load.js';
import { chaosTest, createTopic, defaultShape, type Scene } from './support/scene.js';
import { sized } from '../support/size.js';

/** The store grows with every time that the disk is filled. */
const DISK_BYTES = sized(24, 96) * 1024 * 1024;
const LIMIT_MS = 30_000;
/** Comes once the store was looked at and before anything is served. */
const LOG_OF_A_START = '"validEnd"';
/** B07: from free space to sends that succeed. */
const HEALS_MS = 20_000;

type Kind = 'tmpfs' | 'ext4';

for (const kind of ['tmpfs', 'ext4'] as const) {
  describe(`a full disk (${kind})`, () => {
    before(function () {
      const problem = mountProblem(kind);
      if (problem === undefined) return;
      process.stderr.write(`    skipped: a small ${kind} cannot be mounted here (${problem})\n`);
      this.skip();
    });

    chaosTest('sends are answered 14, reads and commits go on, and it heals without a restart', (scene) =>
      fullDisk(scene, kind),
    );
  });
}

/** Why this machine or user cannot mount a tmpfs. */
function mountProblem(kind: Kind): string | undefined {
  using dir = tempDir();
  try {
    unmount(mount(kind, dir.path));
    return undefined;
  } catch (error) {
    return messageOf(error).split('\n').slice(0, 2).join(' ');
  }
}

/** A small disk below this folder; returns where. The ext4 one is a file, and says later than tmpfs that it is full. */
function mount(kind: Kind, folder: string): string {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  if (kind === 'tmpfs') {
    run('mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'mqkernel-chaos', disk);
    return disk;
  }
  const image = join(folder, 'image');
  run('truncate', '-s', String(2 * DISK_BYTES), image);
  run('mkfs.ext4', '-q', '-m', '0', image);
  run('mount', '-o', 'loop', image, disk);
  return disk;
}

function unmount(disk: string): void {
  run('umount', disk);
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: 'pipe' });
}

async function fullDisk(scene: Scene, kind: Kind): Promise<void> {
  const disk = mount(kind, scene.folder());
  const broker = scene.broker({ flushConsumerOffsetInterval: 200 }, 'command', join(disk, 'store'));
  try {
    await broker.start();
    await createTopic(broker.port, 'T', defaultShape.queues);
    const load = scene.load();
    for (let time = 0; time < sized(1, 10); time++) {
      await fill(broker, load, disk, scene);
      await heal(broker, load, disk);
    }
    await fill(broker, load, disk, scene);
    await stopsAndStarts(broker, load, disk);
  } finally {
    await broker.kill9();
    unmount(disk);
  }
}

const fillerIn = (disk: string): string => join(disk, 'filler');

/** Filler beside the store leaves a little room; the load takes that, too. */
async function fill(broker: BrokerProcess, load: Load, disk: string, scene: Scene): Promise<void> {
  const room = 512 * 1024 + scene.random.below(2 * 1024 * 1024);
  writeFileSync(fillerIn(disk), Buffer.alloc(Math.max(0, freeBytes(disk) - room)));
  const acked = load.acked;
  const refusedBefore = load.ledger.refused.get(ResponseCode.SERVICE_NOT_AVAILABLE) ?? 0;
  load.start(broker.port);
  const refused = (): number => (load.ledger.refused.get(ResponseCode.SERVICE_NOT_AVAILABLE) ?? 0) - refusedBefore;
  await until(() => refused() > 2000 || broker.ending !== undefined, 'sends are refused', LIMIT_MS);
  assert.equal(broker.ending, undefined, 'the broker ended');
  assert.ok(load.acked > acked, 'nothing was stored before the disk was full');
  load.pause();
  await until(() => load.open === 0, 'every send is answered', LIMIT_MS);
  assert.deepEqual([...load.ledger.refused.keys()], [ResponseCode.SERVICE_NOT_AVAILABLE]);
  const { stored } = await auditPart(load, broker.port);
  assert.ok(stored > 0, 'nothing can be read');
  await commit(broker);
}

/** Neither needs space to come to its end; what a start cannot make visible yet follows when there is space. */
async function stopsAndStarts(broker: BrokerProcess, load: Load, disk: string): Promise<void> {
  broker.signal('SIGTERM');
  const { signal } = await broker.ended(LIMIT_MS);
  assert.equal(signal, null);
  load.cut();
  broker.launch();
  await broker.logged(LOG_OF_A_START);
  assert.equal(broker.ending, undefined, 'the broker ended');
  rmSync(fillerIn(disk));
  await broker.ready();
  load.start(broker.port);
  await goesOn(broker, load);
}

async function heal(broker: BrokerProcess, load: Load, disk: string): Promise<void> {
  rmSync(fillerIn(disk));
  load.resume();
  await goesOn(broker, load);
}

/** Sends succeed again, and everything that was ever acknowledged can be read. */
async function goesOn(broker: BrokerProcess, load: Load): Promise<void> {
  const { acked } = load;
  await until(() => load.acked > acked + 500, 'sends succeed again', HEALS_MS);
  load.pause();
  await until(() => load.open === 0, 'every send is answered', LIMIT_MS);
  await auditSoon(load, broker.port, HEALS_MS);
}

async function commit({ port }: BrokerProcess): Promise<void> {
  using client = await RawClient.connect(`127.0.0.1:${port}`);
  const ext = encodeUpdateConsumerOffset({ consumerGroup: 'chaos', topic: 'T', queueId: 0, commitOffset: 1 });
  const { code, remark } = await client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, { ext });
  assert.equal(code, ResponseCode.SUCCESS, `commit of an offset: ${remark}`);
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}
