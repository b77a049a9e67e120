import assert from 'node:assert/strict';
import { systemClock } from '../../kernel/base/clock.js';
import { sized } from '../support/size.js';
import { until } from '../support/until.js';
import type { BrokerProcess } from './support/broker-process.js';
import { endingsOf, Lives } from './support/lives.js';
import { LoopDisk } from './support/loop-disk.js';
import { chaosTest, createTopic, type Scene } from './support/scene.js';
import { TransactionCheck } from './support/transaction-check.js';
import { TransactionLoad, type TransactionShape } from './support/transaction-load.js';

const TRANSACTIONS = sized(1000, 20_000);
const ROUND_MAX_MS = 1200;
const SETTLE_LIMIT_MS = 60_000;
const CHECK_MAX = 15;
const DISK_BYTES = 512 * 1024 * 1024;
const settings = { transactionTimeOut: 300, transactionCheckInterval: 300, transactionCheckMax: CHECK_MAX };
const shape: TransactionShape = { topic: 'T', queues: 4, groups: ['P', 'Q'] };

describe('transactions', () => {
  const topologies = [
    ['dedicated', TRANSACTIONS, sized(4, 20)],
    ['fused', TRANSACTIONS / 5, sized(2, 10)],
  ] as const;
  for (const [topology, transactions, rounds] of topologies)
    chaosTest(
      `${topology}: committed ones are delivered, rolled back ones never, undecided ones given up, over kills and stops`,
      (scene) => endings(scene, topology, transactions, rounds),
    );

  for (const [thread, topology] of [
    ['transaction', 'dedicated'],
    ['reader', 'paired'],
  ] as const)
    chaosTest(`${topology}: the death of thread ${thread} loses no transaction and repeats none`, (scene) =>
      threadDeaths(scene, thread, topology),
    );
});

describe('transactions on a disk that loses power (ext4 in a file)', () => {
  before(function () {
    this.timeout(60_000);
    const problem = LoopDisk.problem();
    if (problem === undefined) return;
    process.stderr.write(`    skipped: no disk here whose power can be cut (${problem})\n`);
    this.skip();
  });

  chaosTest('SYNC_FLUSH: committed ones are delivered, rolled back ones never, undecided ones given up', powerCuts);
});

async function endings(scene: Scene, topology: string, transactions: number, rounds: number): Promise<void> {
  const broker = scene.broker({ ...settings, topology });
  const load = new TransactionLoad(shape, scene.random);
  const lives = new Lives(broker);
  await lives.start(false);
  await createTopic(broker.port, shape.topic, shape.queues);
  for (const how of endingsOf(scene.random, rounds)) {
    await round(scene, broker, load, Math.ceil(transactions / rounds), how);
    await lives.start(how === 'kill');
  }
  const instances = await load.connect(broker.port);
  await load.run(instances, Math.max(0, transactions - load.acked));
  await allSettle(broker, load, lives);
}

/** Begins transactions, kills a producer of each group in the middle, and ends the broker while all that goes on or a moment later. */
async function round(
  scene: Scene,
  broker: BrokerProcess,
  load: TransactionLoad,
  count: number,
  how: 'kill' | 'stop',
): Promise<void> {
  const { random } = scene;
  const signal = how === 'kill' ? 'SIGKILL' : 'SIGTERM';
  const instances = await load.connect(broker.port);
  const resetAt = random.below(count);
  const endAt = random.chance(0.3) ? 1 + random.below(Math.ceil(count / 2)) : Infinity;
  let ends = false;
  await load.run(instances, count, (acked) => {
    if (acked === resetAt) for (const [first] of instances) first!.reset();
    if (acked !== endAt) return;
    ends = true;
    broker.signal(signal);
  });
  const endMs = systemClock.monoMs() + random.below(ROUND_MAX_MS);
  await until(() => ends || systemClock.monoMs() >= endMs, 'the moment of the end');
  if (!ends) broker.signal(signal);
  const { code } = await broker.ended();
  assert.equal(code, how === 'kill' ? null : 0, `the broker was to end by ${signal}`);
}

async function powerCuts(scene: Scene): Promise<void> {
  using disk = new LoopDisk(scene.folder(), DISK_BYTES);
  const broker = scene.broker({ ...settings, flushDiskType: 'SYNC_FLUSH' }, 'command', `${disk.path}/store`);
  const load = new TransactionLoad(shape, scene.random);
  const lives = new Lives(broker);
  const cuts = sized(2, 20);
  try {
    await lives.start(false);
    await createTopic(broker.port, shape.topic, shape.queues);
    for (let cut = 0; cut < cuts; cut++) {
      await load.run(await load.connect(broker.port), 100);
      const endMs = systemClock.monoMs() + scene.random.below(ROUND_MAX_MS);
      await until(() => systemClock.monoMs() >= endMs, 'the moment of the cut');
      // What a disk without power makes it answer counts for nothing.
      load.forgive();
      disk.cutPower();
      await broker.kill9();
      disk.unmount();
      disk.mount();
      await lives.start(true);
    }
    await load.connect(broker.port);
    // A cut may take the note of a question that was asked.
    await allSettle(broker, load, lives, CHECK_MAX + cuts);
  } finally {
    await broker.kill9();
  }
}

async function threadDeaths(scene: Scene, thread: string, topology: string): Promise<void> {
  const broker = scene.broker({ ...settings, topology }, 'child');
  const load = new TransactionLoad(shape, scene.random);
  const lives = new Lives(broker);
  await lives.start(false);
  await createTopic(broker.port, shape.topic, shape.queues);
  const instances = await load.connect(broker.port);
  const deaths = sized(2, 7);
  for (let death = 1; death <= deaths; death++) {
    await load.run(instances, 100);
    const asked = load.asked;
    const more = scene.random.below(50);
    await until(() => load.asked > asked + more, 'questions come', SETTLE_LIMIT_MS);
    await broker.terminate(thread);
    const runsAgain = (): boolean => broker.logOfThisStart().split('a thread runs again').length > death;
    await until(() => runsAgain() || broker.ending !== undefined, 'the thread runs again', SETTLE_LIMIT_MS);
    assert.equal(broker.ending, undefined, 'the process ended');
  }
  await allSettle(broker, load, lives);
}

async function allSettle(
  broker: BrokerProcess,
  load: TransactionLoad,
  lives: Lives,
  checkMax = CHECK_MAX,
): Promise<void> {
  let check = await TransactionCheck.read(load, broker.port);
  const settled = async (): Promise<boolean> => {
    check = await TransactionCheck.read(load, broker.port);
    return check.missing().length === 0;
  };
  await until(settled, 'every transaction comes to its end', SETTLE_LIMIT_MS).catch((error: unknown) => {
    const missing = check.missing();
    const first = missing.slice(0, 5).join('\n');
    throw new Error(`${String(error)}; ${missing.length} of ${load.acked} do not:\n${first}`);
  });
  const repeats = check.result(lives, checkMax);
  process.stderr.write(
    `    ${load.acked} halves, ${check.delivered} delivered, ${check.givenUp} given up, ${repeats} again; ${load.asked} questions\n`,
  );
}
