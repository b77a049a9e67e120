import assert from 'node:assert/strict';
import { systemClock } from '../../kernel/base/clock.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import type { BrokerProcess, Settings } from './support/broker-process.js';
import { DelayedCheck } from './support/delayed-check.js';
import { DelayedLoad, type DelayShape } from './support/delayed-load.js';
import { endingsOf, Lives } from './support/lives.js';
import { LoopDisk } from './support/loop-disk.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';

const PER_ROUND = 1000;
const ROUND_MAX_MS = 1200;
const DISK_BYTES = 512 * 1024 * 1024;
const ARRIVAL_LIMIT_MS = 60_000;
const levelsMs = [1000, 2000, 3000, 4000];
const settings: Settings = {
  messageDelayLevel: levelsMs.map((ms) => `${ms / 1000}s`).join(' '),
  // Deletes nothing of the short log.
  fileReservedTime: 72,
};
const shape: DelayShape = { topic: 'T', queues: 4, levelsMs, anyDelayMaxMs: 4000 };

describe('delayed messages', () => {
  const topologies = [
    ['dedicated', sized(10, 30)],
    ['fused', sized(2, 10)],
  ] as const;
  for (const [topology, rounds] of topologies)
    chaosTest(`${topology}: none lost, none early, repeats only after a kill, over kills and stops`, (scene) =>
      endings(scene, topology, rounds),
    );

  for (const [thread, topology] of [
    ['schedule', 'dedicated'],
    ['reader', 'paired'],
  ] as const)
    chaosTest(`${topology}: the death of thread ${thread} loses nothing and repeats nothing`, (scene) =>
      threadDeaths(scene, thread, topology),
    );
});

describe('delayed messages on a disk that loses power (ext4 in a file)', () => {
  before(function () {
    this.timeout(60_000);
    const problem = LoopDisk.problem();
    if (problem === undefined) return;
    process.stderr.write(`    skipped: no disk here whose power can be cut (${problem})\n`);
    this.skip();
  });

  chaosTest('SYNC_FLUSH: none lost, none early, repeats only after a cut', powerCuts);
});

/** Half of the lives end by a kill, half by a stop, at any moment of sending and delivering. */
async function endings(scene: Scene, topology: string, rounds: number): Promise<void> {
  const broker = scene.broker({ ...settings, topology });
  const load = new DelayedLoad(shape, scene.random);
  const lives = new Lives(broker);
  await lives.start(false);
  await createTopic(broker.port, shape.topic, shape.queues);
  for (const how of endingsOf(scene.random, rounds)) {
    await round(scene, broker, load, how === 'kill' ? 'SIGKILL' : 'SIGTERM');
    await lives.start(how === 'kill');
  }
  await load.send(broker.port, Math.max(0, rounds * PER_ROUND - load.acked));
  await allArrive(broker, load, lives);
  assert.deepEqual(load.strange, []);
}

/** Sends, and ends the broker while it does or a moment later. */
async function round(scene: Scene, broker: BrokerProcess, load: DelayedLoad, signal: NodeJS.Signals): Promise<void> {
  await inTheMiddle(scene, broker, load, () => broker.signal(signal));
  const { code } = await broker.ended();
  assert.equal(code, signal === 'SIGKILL' ? null : 0, `the broker was to end by ${signal}`);
}

/** Sends, and does something once: while it sends, or a moment later. */
async function inTheMiddle(scene: Scene, broker: BrokerProcess, load: DelayedLoad, act: () => void): Promise<void> {
  const target = scene.random.chance(0.4) ? 1 + scene.random.below(PER_ROUND) : Infinity;
  const restMs = scene.random.below(ROUND_MAX_MS);
  await load.send(broker.port, PER_ROUND, (acked) => acked === target && act());
  if (target !== Infinity) return;
  const endMs = systemClock.monoMs() + restMs;
  await until(() => broker.ending !== undefined || systemClock.monoMs() >= endMs, 'the moment of the end');
  act();
}

async function threadDeaths(scene: Scene, thread: string, topology: string): Promise<void> {
  const broker = scene.broker({ ...settings, topology }, 'child');
  const load = new DelayedLoad(shape, scene.random);
  const lives = new Lives(broker);
  await lives.start(false);
  await createTopic(broker.port, shape.topic, shape.queues);
  const deaths = sized(2, 7);
  for (let death = 1; death <= deaths; death++) {
    let terminated: Promise<void> | undefined;
    await inTheMiddle(scene, broker, load, () => (terminated = broker.terminate(thread)));
    await terminated;
    const runsAgain = (): boolean => broker.logOfThisStart().split('a thread runs again').length > death;
    await until(() => runsAgain() || broker.ending !== undefined, 'the thread runs again', ARRIVAL_LIMIT_MS);
    assert.equal(broker.ending, undefined, 'the process ended');
  }
  await allArrive(broker, load, lives);
  assert.deepEqual(load.strange, []);
}

async function powerCuts(scene: Scene): Promise<void> {
  using disk = new LoopDisk(scene.folder(), DISK_BYTES);
  const broker = scene.broker({ ...settings, flushDiskType: 'SYNC_FLUSH' }, 'command', `${disk.path}/store`);
  const load = new DelayedLoad(shape, scene.random);
  const lives = new Lives(broker);
  try {
    await lives.start(false);
    await createTopic(broker.port, shape.topic, shape.queues);
    for (let cut = 0; cut < sized(3, 30); cut++) {
      await inTheMiddle(scene, broker, load, () => {
        disk.cutPower();
        broker.signal('SIGKILL');
      });
      await broker.ended();
      disk.unmount();
      disk.mount();
      await lives.start(true);
    }
    await allArrive(broker, load, lives);
  } finally {
    await broker.kill9();
  }
}

async function allArrive(broker: BrokerProcess, load: DelayedLoad, lives: Lives): Promise<void> {
  let check = await DelayedCheck.read(load, broker.port);
  const complete = async (): Promise<boolean> => {
    check = await DelayedCheck.read(load, broker.port);
    return check.missing().length === 0;
  };
  await until(complete, 'everything acknowledged is delivered', ARRIVAL_LIMIT_MS).catch((error: unknown) => {
    const missing = check.missing();
    const first = missing.slice(0, 5).map((at) => `${at} ${JSON.stringify(load.sent[at]!.wish)}`);
    throw new Error(`${String(error)}; ${missing.length} of ${load.acked} are lost: ${first.join(', ')}`);
  });
  const repeats = check.result(lives);
  const late = check.lateness(lives);
  const at = (share: number): number => late[Math.ceil(late.length * share) - 1]!;
  process.stderr.write(
    `    ${load.acked} acknowledged, ${check.delivered} delivered, ${repeats} again; late p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)} ms\n`,
  );
}
