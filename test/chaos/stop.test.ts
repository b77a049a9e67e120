import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../kernel/base/clock.js';
import { ExitCode } from '../../kernel/base/errors.js';
import { ResponseCode } from '../../protocol/codes.js';
import { until } from '../support/until.js';
import { audit, auditSoon } from './support/audit.js';
import type { BrokerProcess, Settings } from './support/broker-process.js';
import type { Load } from './support/load.js';
import { chaosTest, createTopic, defaultShape, type Scene } from './support/scene.js';
import { sized } from '../support/size.js';

/** From the signal to the end of the process, with a load that does not let up. */
const STOP_LIMIT_MS = 10_000;
const LOAD_LIMIT_MS = 30_000;

describe('signals under load', () => {
  for (const flushDiskType of ['ASYNC_FLUSH', 'SYNC_FLUSH']) {
    chaosTest(`${flushDiskType}: SIGTERM ends with code 0, everything stored and nothing to recover`, (scene) =>
      terminate(scene, { flushDiskType }),
    );
  }

  chaosTest('a second signal ends at once with code 71, and loses nothing', secondSignal);

  chaosTest('a process that was stopped for 3 s goes on, longer than a worker may hang', stopAndContinue);
});

/** A broker with a load on it that has come so far. */
async function loaded(scene: Scene, broker: BrokerProcess, load: Load): Promise<void> {
  await broker.start();
  await createTopic(broker.port, 'T', defaultShape.queues);
  await under(scene, broker, load);
}

async function under(scene: Scene, broker: BrokerProcess, load: Load): Promise<void> {
  const target = load.acked + 1000 + scene.random.below(sized(5000, 20_000));
  load.start(broker.port);
  await until(
    () => load.acked >= target || broker.ending !== undefined,
    `${target} sends are acknowledged`,
    LOAD_LIMIT_MS,
  );
}

async function terminate(scene: Scene, settings: Settings): Promise<void> {
  const broker = scene.broker(settings);
  const load = scene.load();
  await loaded(scene, broker, load);
  for (let stop = 0; stop < sized(2, 20); stop++) {
    const signalledMs = systemClock.monoMs();
    broker.signal('SIGTERM');
    const { code, signal, atMs } = await broker.ended();
    assert.deepEqual({ code, signal }, { code: ExitCode.done, signal: null });
    assert.ok(atMs - signalledMs <= STOP_LIMIT_MS, `the stop took ${Math.round(atMs - signalledMs)} ms`);
    assert.equal(existsSync(join(broker.storeDir, 'abort')), false, 'the file abort is still there');
    load.cut();
    const others = [...load.ledger.refused.keys()].filter((code) => code !== ResponseCode.SERVICE_NOT_AVAILABLE);
    assert.deepEqual(others, [], 'sends were refused with other codes than 14');
    await broker.start();
    assert.ok(!broker.logOfThisStart().includes('store recovered'), 'the store had to be recovered');
    await audit(load, broker.port);
    await under(scene, broker, load);
  }
}

/** The two signals differ: the system keeps only one of two equal ones that are not handled yet. */
async function secondSignal(scene: Scene): Promise<void> {
  const broker = scene.broker({ flushDiskType: 'SYNC_FLUSH' });
  const load = scene.load();
  await loaded(scene, broker, load);
  broker.signal('SIGTERM');
  broker.signal('SIGINT');
  const { code, signal } = await broker.ended(STOP_LIMIT_MS);
  assert.deepEqual({ code, signal }, { code: ExitCode.forced, signal: null });
  load.cut();
  await broker.start();
  await audit(load, broker.port);
}

async function stopAndContinue(scene: Scene): Promise<void> {
  const stopMs = 3000;
  const broker = scene.broker({ workerHangTimeoutMs: 2500 });
  const load = scene.load();
  await loaded(scene, broker, load);
  const { pid } = broker;
  for (let stop = 0; stop < sized(1, 20); stop++) {
    broker.signal('SIGSTOP');
    const stoppedMs = systemClock.monoMs();
    await until(() => systemClock.monoMs() - stoppedMs >= stopMs, 'the process has been stopped long enough');
    const before = load.acked;
    broker.signal('SIGCONT');
    await until(() => load.acked > before + 1000, 'sends succeed again', LOAD_LIMIT_MS);
  }
  assert.equal(broker.ending, undefined);
  assert.equal(broker.pid, pid);
  load.pause();
  await until(() => load.open === 0, 'every send is answered', LOAD_LIMIT_MS);
  assert.equal(load.ledger.refused.size, 0, `refused by code: ${JSON.stringify([...load.ledger.refused])}`);
  // Nothing was restarted: what was acknowledged last becomes visible a moment later.
  await auditSoon(load, broker.port, LOAD_LIMIT_MS);
}
