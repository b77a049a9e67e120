import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemCodeOf } from '../../kernel/base/errors.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import { queueSpan } from '../support/old-store.js';
import { RawClient } from '../support/raw-client.js';
import { pullAll, send, type Sent } from '../support/send-pull.js';
import { tempDir } from '../support/temp-dir.js';
import { until } from '../support/until.js';
import { auditPart, auditSoon } from './support/audit.js';
import type { BrokerProcess } from './support/broker-process.js';
import type { Load } from './support/load.js';
import { chaosTest, createTopic, defaultShape, type Scene } from './support/scene.js';
import { sized } from '../support/size.js';

const MiB = 1024 * 1024;
/** The store grows with every time that the disk is filled. */
const DISK_BYTES = sized(24, 96) * MiB;
const MARKS = { diskSpaceWarningLevelRatio: 90, diskSpaceCleanForciblyRatio: 85 };
const LIMIT_MS = 30_000;
/** Comes once the store was looked at and before anything is served. */
const LOG_OF_A_START = '"validEnd"';
/** B07: from free space to sends that succeed. */
const HEALS_MS = 20_000;

const FILL_STEP = Buffer.alloc(64 * 1024);
const RECIPE = { diskBytes: 256 * MiB, segmentBytes: 16 * MiB, loadedBytes: 60 * MiB };

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

describe('a disk above the marks (B07)', () => {
  before(function () {
    const problem = mountProblem('ext4');
    if (problem === undefined) return;
    process.stderr.write(`    skipped: a small ext4 cannot be mounted here (${problem})\n`);
    this.skip();
  });

  chaosTest('sends are answered 14 with the ratios, all else goes on, and it heals without a restart', aboveMark);
  chaosTest('the oldest files make room for new messages', makesRoom);
});

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
function mount(kind: Kind, folder: string, imageBytes = 2 * DISK_BYTES): string {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  if (kind === 'tmpfs') {
    run('mount', '-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'mqkernel-chaos', disk);
    return disk;
  }
  const image = join(folder, 'image');
  run('truncate', '-s', String(imageBytes), image);
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

/** The recipe of B07: 60 MiB of messages in files of 16 MiB, then a filler brings the disk to 91 % and goes again. */
async function aboveMark(scene: Scene): Promise<void> {
  const disk = mount('ext4', scene.folder(), RECIPE.diskBytes);
  const settings = { mappedFileSizeCommitLog: RECIPE.segmentBytes, cleanFileForciblyEnable: false, ...MARKS };
  const broker = scene.broker(settings, 'command', join(disk, 'store'));
  try {
    await broker.start();
    await createTopic(broker.port, 'T', defaultShape.queues);
    const load = scene.load({ bodyBytesMax: 32 * 1024 });
    load.start(broker.port);
    await until(() => usedBytes(disk) >= RECIPE.loadedBytes, 'the store is loaded', LIMIT_MS);
    load.pause();
    await until(() => load.open === 0, 'every send is answered', LIMIT_MS);
    for (const percent of [91, 100]) await aboveMarkAt(percent, { disk, broker, load });
    assert.deepEqual(
      [/a disk is full/g, /have space again/g].map((line) => broker.log().match(line)?.length),
      [2, 2],
      'one line per change',
    );
  } finally {
    await broker.kill9();
    unmount(disk);
  }
}

interface AboveMark {
  readonly disk: string;
  readonly broker: BrokerProcess;
  readonly load: Load;
}

async function aboveMarkAt(percent: number, { disk, broker, load }: AboveMark): Promise<void> {
  fillTo(disk, percent);
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const probe = (): Promise<Sent> => send(client, { topic: 'Probe' });
  await until(async () => (await probe()).code !== ResponseCode.SUCCESS, `sends are refused at ${percent} %`, HEALS_MS);
  const { code, remark } = await probe();
  assert.equal(code, ResponseCode.SERVICE_NOT_AVAILABLE);
  assert.match(String(remark), /\[CL: {2}[01]\.\d\d CQ: {2}[01]\.\d\d INDEX: ( [01]|-1)\.\d\d\]/);
  await auditSoon(load, broker.port, HEALS_MS);
  await commit(broker);
  assert.equal((await probe()).code, ResponseCode.SERVICE_NOT_AVAILABLE, 'still');
  assert.equal(broker.ending, undefined, 'the broker ended');
  rmSync(fillerIn(disk));
  await until(async () => (await probe()).code === ResponseCode.SUCCESS, 'sends succeed again', HEALS_MS);
  load.resume();
  await goesOn(broker, load);
}

/** More is sent than the disk can hold. */
async function makesRoom(scene: Scene): Promise<void> {
  const disk = mount('ext4', scene.folder(), RECIPE.diskBytes);
  const broker = scene.broker(
    { mappedFileSizeCommitLog: RECIPE.segmentBytes / 4, ...MARKS },
    'command',
    join(disk, 'store'),
  );
  try {
    await broker.start();
    await createTopic(broker.port, 'T', defaultShape.queues);
    const load = scene.load({ bodyBytesMax: 32 * 1024 });
    load.start(broker.port);
    // Bodies are half as long as the longest.
    const enough = (1.5 * RECIPE.diskBytes) / (16 * 1024);
    await until(
      () => load.acked > enough || broker.ending !== undefined,
      'more than the disk was stored',
      4 * LIMIT_MS,
    );
    assert.equal(broker.ending, undefined, 'the broker ended');
    load.pause();
    await until(() => load.open === 0, 'every send is answered', LIMIT_MS);
    assert.deepEqual(
      [...load.ledger.refused.keys()].filter((code) => code !== ResponseCode.SERVICE_NOT_AVAILABLE),
      [],
    );
    using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
    const ids = Array.from({ length: defaultShape.queues }, (_, queueId) => queueId);
    const spans = (): Promise<(readonly [number, number])[]> =>
      Promise.all(ids.map((queueId) => queueSpan(client, 'T', queueId)));
    const stored = async (): Promise<number> => (await spans()).reduce((sum, [, max]) => sum + max, 0);
    await until(async () => (await stored()) === load.acked, 'all that was acknowledged is dispatched', LIMIT_MS);
    for (const [queueId, [min, max]] of (await spans()).entries()) {
      assert.ok(min > 0 && min < max, `queue ${queueId} holds ${min} to ${max}`);
      assert.equal((await pullAll(client, max - min, { queueId, queueOffset: min })).length, max - min);
    }
  } finally {
    await broker.kill9();
    unmount(disk);
  }
}

/** A filler as large as it takes, or as the disk lets it be: what it says is free is not all for files. */
function fillTo(disk: string, percent: number): void {
  const missing = (percent / 100) * (usedBytes(disk) + freeBytes(disk)) - usedBytes(disk);
  const filler = openSync(fillerIn(disk), 'w');
  try {
    for (let done = 0; done < missing; done += FILL_STEP.length) writeSync(filler, FILL_STEP);
  } catch (error) {
    assert.equal(systemCodeOf(error), 'ENOSPC');
  } finally {
    closeSync(filler);
  }
}

function usedBytes(dir: string): number {
  const { blocks, bfree, bsize } = statfsSync(dir);
  return (blocks - bfree) * bsize;
}
