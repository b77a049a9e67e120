import assert from 'node:assert/strict';
import { systemClock } from '../../kernel/base/clock.js';
import { ExitCode } from '../../kernel/base/errors.js';
import { until } from '../support/until.js';
import { audit, auditSoon } from './support/audit.js';
import type { BrokerProcess, Settings } from './support/broker-process.js';
import type { Load } from './support/load.js';
import { chaosTest, createTopic, defaultShape, type Scene } from './support/scene.js';
import { sized } from '../support/size.js';

/** From the death of a thread that nothing goes on without to the end of the process. */
const END_LIMIT_MS = 2000;
const LOAD_LIMIT_MS = 30_000;

describe('the death of a worker thread', () => {
  const fatal: readonly (readonly [thread: string, settings: Settings])[] = [
    ['commitlog', {}],
    ['flush', {}],
    ['flush', { flushDiskType: 'SYNC_FLUSH' }],
    ['writer', { topology: 'paired' }],
  ];
  for (const [thread, settings] of fatal) {
    const where = JSON.stringify(settings);
    chaosTest(`${thread} ${where}: the process ends with code 70 within 2 s, what was acknowledged is there`, (scene) =>
      fatalDeath(scene, thread, settings),
    );
  }

  chaosTest('reput: it is started again and everything becomes visible', (scene) => restart(scene, 'reput', {}));
  chaosTest('reader {"topology":"paired"}: the same', (scene) => restart(scene, 'reader', { topology: 'paired' }));
});

async function fatalDeath(scene: Scene, thread: string, settings: Settings): Promise<void> {
  const broker = scene.broker(settings, 'child');
  const load = scene.load();
  await broker.start();
  await createTopic(broker.port, 'T', defaultShape.queues);
  for (let death = 0; death < sized(1, 10); death++) {
    await under(scene, broker, load);
    const begunMs = systemClock.monoMs();
    await broker.terminate(thread);
    const { code, signal, atMs } = await broker.ended();
    assert.deepEqual({ code, signal }, { code: ExitCode.workerDied, signal: null });
    assert.ok(atMs - begunMs <= END_LIMIT_MS, `the process lived on for ${Math.round(atMs - begunMs)} ms`);
    load.cut();
    await broker.start();
    // An acknowledgement after the writer's death would be one of a message that is nowhere.
    await audit(load, broker.port);
  }
}

/** A load that has come so far and goes on. */
async function under(scene: Scene, broker: BrokerProcess, load: Load): Promise<void> {
  const target = load.acked + 500 + scene.random.below(sized(4000, 20_000));
  load.start(broker.port);
  await until(() => load.acked >= target, `${target} sends are acknowledged`, LOAD_LIMIT_MS);
}

async function restart(scene: Scene, thread: string, settings: Settings): Promise<void> {
  const broker = scene.broker(settings, 'child');
  const load = scene.load();
  await broker.start();
  await createTopic(broker.port, 'T', defaultShape.queues);
  const deaths = sized(3, 7);
  for (let death = 1; death <= deaths; death++) {
    await under(scene, broker, load);
    await broker.terminate(thread);
    const runsAgain = (): boolean => broker.logOfThisStart().split('a thread runs again').length > death;
    await until(() => runsAgain() || broker.ending !== undefined, 'the thread runs again', LOAD_LIMIT_MS);
    assert.equal(broker.ending, undefined, 'the process ended');
  }
  await under(scene, broker, load);
  load.pause();
  await until(() => load.open === 0, 'every send is answered', LOAD_LIMIT_MS);
  assert.equal(load.ledger.refused.size, 0, `refused by code: ${JSON.stringify([...load.ledger.refused])}`);
  await auditSoon(load, broker.port, LOAD_LIMIT_MS);
  load.cut();
  await broker.kill9();
  await broker.start();
  await audit(load, broker.port);
}
