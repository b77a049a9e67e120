import assert from 'node:assert/strict';
import { systemClock } from '../../kernel/base/clock.js';
import { until } from '../support/until.js';
import { audit, auditAfterCut } from './support/audit.js';
import type { BrokerProcess } from './support/broker-process.js';
import type { Load } from './support/load.js';
import { LoopDisk } from './support/loop-disk.js';
import { chaosTest, createTopic, defaultShape, type Scene } from './support/scene.js';
import { SettingsLoad } from './support/settings-load.js';
import { sized } from '../support/size.js';

const CYCLES = sized(10, 150);
/** Each cycle reads all of the store. */
const CYCLES_PER_DISK = 10;
const DISK_BYTES = 1024 * 1024 * 1024;
/** A cycle in which fewer sends were acknowledged before the cut proves nothing. */
const VOID_BELOW = 300;
const VOID_MAX = 3;
const LOAD_LIMIT_MS = 30_000;
const PERSIST_MS = 200;
/** flushCommitLogThoroughInterval, 4.9's default. */
const ASYNC_LOSS_MS = 10_000;
/** So long after its start a cycle is cut at the latest: some flushes later, so that there is something to keep and something to lose. */
const CUT_AFTER_MS = sized(1500, 3000);
/** Of a service that gets its turn late, on a machine that does other things, too. */
const SLACK_MS = 2000;

describe('power cuts (ext4 in a file)', () => {
  before(function () {
    this.timeout(60_000);
    const problem = LoopDisk.problem();
    if (problem === undefined) return;
    process.stderr.write(`    skipped: no disk here whose power can be cut (${problem})\n`);
    this.skip();
  });

  chaosTest('SYNC_FLUSH: nothing acknowledged is lost', (scene) => cycles(scene, { flushDiskType: 'SYNC_FLUSH' }));

  chaosTest('ASYNC_FLUSH: only a suffix is lost, nothing acknowledged more than 10 s before', (scene) =>
    cycles(scene, { flushDiskType: 'ASYNC_FLUSH' }),
  );

  // Which cursor an answer waits for is the same in all of them; who moves it when is not.
  for (const topology of ['fused', 'paired'])
    chaosTest(`SYNC_FLUSH, topology ${topology}: nothing acknowledged is lost`, (scene) =>
      cycles(scene, { flushDiskType: 'SYNC_FLUSH', topology }, sized(2, 30)),
    );
});

type FlushMode = 'SYNC_FLUSH' | 'ASYNC_FLUSH';

interface Mode {
  readonly flushDiskType: FlushMode;
  readonly topology?: string;
}

async function cycles(scene: Scene, mode: Mode, count = CYCLES): Promise<void> {
  for (let done = 0; done < count; done += CYCLES_PER_DISK)
    await cyclesOnOneDisk(scene, mode, Math.min(CYCLES_PER_DISK, count - done));
}

async function cyclesOnOneDisk(scene: Scene, mode: Mode, count: number): Promise<void> {
  using disk = new LoopDisk(scene.folder(), DISK_BYTES);
  const { flushDiskType } = mode;
  const settings = { ...mode, flushConsumerOffsetInterval: PERSIST_MS };
  const broker = scene.broker(settings, 'command', `${disk.path}/store`);
  const load = scene.load();
  try {
    await broker.start();
    await createTopic(broker.port, 'T', defaultShape.queues);
    const cutter = new Cutter(scene, disk, broker, load, flushDiskType);
    for (let valid = 0, tried = 0; valid < count; tried++) {
      assert.ok(tried < count + VOID_MAX, `${VOID_MAX} cycles were void: this machine is too slow to tell anything`);
      if (await cutter.cycle()) valid++;
    }
    process.stderr.write(`    ${flushDiskType}: ${cutter.report()}\n`);
    assert.ok(cutter.kept > 0, 'nothing was on disk at any of the cuts: they prove nothing');
  } finally {
    await scene.discard(broker, load);
  }
}

/** One broker, whose disk loses power again and again. */
class Cutter {
  readonly #settings = new SettingsLoad(PERSIST_MS);
  #taken = 0;
  #oldestMs = 0;
  #cuts = 0;

  constructor(
    private readonly scene: Scene,
    private readonly disk: LoopDisk,
    private readonly broker: BrokerProcess,
    private readonly load: Load,
    private readonly mode: FlushMode,
  ) {}

  report(): string {
    const taken = this.mode === 'SYNC_FLUSH' ? '0' : `${this.#taken}, the oldest ${Math.round(this.#oldestMs)} ms old`;
    return `${this.#cuts} cuts, ${this.load.acked} acknowledged, lost ${taken}`;
  }

  /** Messages of cycles that a cut did not take. */
  get kept(): number {
    return this.load.acked - this.#taken;
  }

  /** Load, cut, start, look. False when there was too little load before the cut. */
  async cycle(): Promise<boolean> {
    const { load, broker, disk, scene } = this;
    const before = load.acked;
    const target = before + VOID_BELOW + scene.random.below(sized(3000, 8000));
    const cutAtMonoMs = systemClock.monoMs() + scene.random.below(CUT_AFTER_MS);
    load.start(broker.port);
    this.#settings.start(broker.port);
    await until(
      () => load.acked >= target && systemClock.monoMs() >= cutAtMonoMs,
      'as many sends are acknowledged as it takes',
      LOAD_LIMIT_MS,
    ).catch(() => undefined);
    const enough = load.acked - before >= VOID_BELOW;
    disk.cutPower();
    const cutMs = systemClock.monoMs();
    await broker.kill9();
    load.cut();
    await this.#settings.stop();
    this.#cuts++;
    disk.unmount();
    disk.mount();
    await broker.start();
    await this.#look(cutMs);
    return enough;
  }

  async #look(cutMs: number): Promise<void> {
    const { load, broker, mode } = this;
    await this.#settings.check(broker, cutMs, SLACK_MS);
    if (mode === 'SYNC_FLUSH') return void (await audit(load, broker.port));
    const { count, oldestMs } = await auditAfterCut(load, broker.port, cutMs);
    this.#taken += count;
    this.#oldestMs = Math.max(this.#oldestMs, oldestMs);
    assert.ok(oldestMs <= ASYNC_LOSS_MS + SLACK_MS, `a message acknowledged ${oldestMs} ms before the cut is lost`);
  }
}
