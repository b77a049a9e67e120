import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PushConsumer } from '../../client/index.js';
import { messageOf } from '../../kernel/base/errors.js';
import { systemClock } from '../../kernel/base/clock.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import {
  decodeQueryConsumerOffsetResponse,
  encodeQueryConsumerOffset,
} from '../../protocol/headers/query-consumer-offset.js';
import { encodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { storePaths } from '../../store/files/paths.js';
import { compareWithFreshBuild } from '../support/fresh-build.js';
import { RawClient } from '../support/raw-client.js';
import { sendAsk } from '../support/send-pull.js';
import { until } from '../support/until.js';
import { audit } from './support/audit.js';
import { nameOf } from './support/bodies.js';
import type { BrokerProcess, Settings } from './support/broker-process.js';
import type { Load } from './support/load.js';
import { chaosTest, createTopic, defaultShape, type Scene, smallFiles } from './support/scene.js';
import { sized } from '../support/size.js';

/** From the start of the process to the first acknowledged send is to take at most 3 s; told, since this machine may be busy. */
const SERVES_AGAIN_MS = 3000;
const SERVES_LIMIT_MS = 60_000;
const CONSUME_LIMIT_MS = 60_000;
/** A round in which fewer sends were acknowledged before the kill proves nothing. */
const VOID_BELOW = 300;
const VOID_MAX = 3;
const ROUND_LIMIT_MS = 30_000;
const ROUNDS_PER_STORE = 10;

describe('kill -9 under load', () => {
  chaosTest('ASYNC_FLUSH, topology dedicated: nothing acknowledged is lost, nothing invented, order kept', (scene) =>
    rounds(scene, {}, sized(12, 200)),
  );

  chaosTest('SYNC_FLUSH, topology dedicated: the same', (scene) =>
    rounds(scene, { flushDiskType: 'SYNC_FLUSH' }, sized(5, 70)),
  );

  for (const topology of ['fused', 'paired'])
    for (const flushDiskType of ['ASYNC_FLUSH', 'SYNC_FLUSH'])
      chaosTest(`${flushDiskType}, topology ${topology}: the same`, (scene) =>
        rounds(scene, { topology, flushDiskType }, sized(3, 30)),
      );

  chaosTest('a topic that a send created is there when that send was acknowledged', autoCreated);

  chaosTest('committed offsets are at most one persist interval old', committedOffsets);
});

/** Kills so many times. Each round reads all of the store, so a new one is begun before that takes too long. */
async function rounds(scene: Scene, settings: Settings, count: number): Promise<void> {
  for (let done = 0; done < count; done += ROUNDS_PER_STORE) {
    const broker = scene.broker({ role: 'all', namesrvListenPort: 0, ...settings });
    await broker.start();
    await createTopic(broker.port, 'T', defaultShape.queues);
    const load = scene.load();
    const servedMs = await roundsOnOneStore(scene, broker, load, Math.min(ROUNDS_PER_STORE, count - done));
    load.cut();
    await consumeAll(broker, load);
    const files = await compareQueues(broker);
    await scene.discard(broker, load);
    process.stderr.write(`    ${reportOf(servedMs)}; ${load.acked} acknowledged; ${files} queue files compared\n`);
  }
}

function reportOf(servedMs: readonly number[]): string {
  const late = servedMs.filter((ms) => ms > SERVES_AGAIN_MS).length;
  const worst = Math.round(Math.max(...servedMs));
  return `${servedMs.length} kills, sends succeed again after at most ${worst} ms (${late} over ${SERVES_AGAIN_MS} ms)`;
}

/** Our own consumer gets everything that was acknowledged, as it was sent. */
async function consumeAll({ namesrv }: BrokerProcess, load: Load): Promise<void> {
  const left = new Set<string>();
  for (const [producer, sequence, { outcome }] of load.ledger.all())
    if (outcome === 'acked') left.add(`${producer}-${sequence}`);
  const strange: string[] = [];
  const consumer = new PushConsumer({ namesrvAddr: namesrv, group: 'auditor', from: 'first' });
  await consumer.subscribe('T');
  try {
    await consumer.start((batch) => {
      for (const { body } of batch) {
        const name = nameOf(body);
        if (name === undefined) strange.push(`${body.length} bytes that nobody sent`);
        else left.delete(`${name.producer}-${name.sequence}`);
      }
      return 'success';
    });
    await until(() => left.size === 0, 'the consumer has everything that was acknowledged', CONSUME_LIMIT_MS);
  } catch (error) {
    throw new Error(`${messageOf(error)}; missing: ${[...left].slice(0, 10).join(' ')}`);
  } finally {
    await consumer.stop();
  }
  assert.deepEqual(strange, []);
}

/** After a good end the queues are, byte by byte, those that the log gives. */
async function compareQueues(broker: BrokerProcess): Promise<number> {
  broker.signal('SIGTERM');
  const { code, signal } = await broker.ended();
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  return compareWithFreshBuild(nodeFiles, storePaths(broker.storeDir), smallFiles);
}

async function roundsOnOneStore(scene: Scene, broker: BrokerProcess, load: Load, count: number): Promise<number[]> {
  const servedMs: number[] = [];
  let valid = 0;
  for (let tried = 0; valid < count; tried++) {
    assert.ok(tried < count + VOID_MAX, `${VOID_MAX} rounds were void: this machine is too slow to tell anything`);
    if (await round(scene, broker, load, servedMs)) valid++;
  }
  return servedMs;
}

/** Load, kill, sometimes a second kill while the store is recovered, start, audit, first send. False when it was void. */
async function round(scene: Scene, broker: BrokerProcess, load: Load, servedMs: number[]): Promise<boolean> {
  const before = load.acked;
  const target = before + VOID_BELOW + scene.random.below(sized(3_000, 20_000));
  load.onAcked = (acked) => acked === target && broker.signal('SIGKILL');
  load.start(broker.port);
  await until(() => broker.ending !== undefined, 'as many sends are acknowledged as it takes', ROUND_LIMIT_MS).catch(
    () => broker.kill9(),
  );
  load.cut();
  if (scene.random.chance(0.3)) {
    broker.launch();
    await broker.logged('store recovered');
    await broker.kill9();
  }
  const begun = systemClock.monoMs();
  await broker.start();
  const startedMs = systemClock.monoMs() - begun;
  await audit(load, broker.port);
  const acked = load.acked;
  const again = systemClock.monoMs();
  load.start(broker.port);
  await until(() => load.acked > acked, 'a send succeeds again', SERVES_LIMIT_MS);
  servedMs.push(startedMs + systemClock.monoMs() - again);
  return acked - before >= VOID_BELOW;
}

/** The first answer is the signal for the kill: whatever has to be on disk by then is, or never will be. */
async function autoCreated(scene: Scene): Promise<void> {
  const broker = scene.broker();
  for (let kill = 0; kill < sized(4, 20); kill++) {
    await broker.start();
    const topics = Array.from({ length: 8 }, (_, i) => `created-${kill}-${i}`);
    const client = await RawClient.connect(`127.0.0.1:${broker.port}`);
    const sends = topics.map((topic) => {
      const { code, ask } = sendAsk({ topic, queueId: 0, body: Buffer.from(topic) });
      return client.ask(code, ask);
    });
    const acked: string[] = [];
    sends.forEach((send, i) => {
      send.then(
        ({ code }) => {
          if (code === ResponseCode.SUCCESS) acked.push(topics[i]!);
          broker.signal('SIGKILL');
        },
        () => undefined,
      );
    });
    await Promise.allSettled(sends);
    await broker.ended();
    assert.ok(acked.length > 0);
    const stored = JSON.parse(readFileSync(join(broker.storeDir, 'config', 'topics.json'), 'utf8')) as {
      topicConfigTable: Record<string, unknown>;
    };
    for (const topic of acked)
      assert.ok(topic in stored.topicConfigTable, `${topic}: a send to it was acknowledged, but topics.json lacks it`);
  }
}

async function committedOffsets(scene: Scene): Promise<void> {
  const intervalMs = 500;
  /** The write itself, on a busy disk. */
  const slackMs = 2000;
  const broker = scene.broker({ flushConsumerOffsetInterval: intervalMs });
  await broker.start();
  await createTopic(broker.port, 'T', 1);
  const commits: { readonly offset: number; readonly ackedMs: number }[] = [];
  const endMs = systemClock.monoMs() + slackMs + 3 * intervalMs + scene.random.below(intervalMs);
  {
    using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
    for (let offset = 1; systemClock.monoMs() < endMs; offset++) {
      await commit(client, offset);
      commits.push({ offset, ackedMs: systemClock.monoMs() });
    }
  }
  const killedMs = systemClock.monoMs();
  await broker.kill9();
  await broker.start();
  const found = await committed(broker);
  const old = commits.filter(({ ackedMs }) => ackedMs < killedMs - intervalMs - slackMs).at(-1);
  assert.ok(old !== undefined, 'too few commits to tell anything');
  assert.ok(found >= old.offset, `offset ${found} after the kill; ${old.offset} was committed long before it`);
  assert.ok(found <= commits.at(-1)!.offset, `offset ${found} was never committed`);

  const last = commits.at(-1)!.offset + 1;
  {
    using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
    await commit(client, last);
  }
  const file = join(broker.storeDir, 'config', 'consumerOffset.json');
  const isOnDisk = (): boolean => readFileSync(file, 'utf8').includes(`0:${last}`);
  await until(isOnDisk, 'the offset is on disk', intervalMs + slackMs);
  await broker.kill9();
  await broker.start();
  assert.equal(await committed(broker), last);
}

const place = { consumerGroup: 'chaos', topic: 'T', queueId: 0 };

async function commit(client: RawClient, commitOffset: number): Promise<void> {
  const { code, remark } = await client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, {
    ext: encodeUpdateConsumerOffset({ ...place, commitOffset }),
  });
  assert.equal(code, ResponseCode.SUCCESS, `commit of ${commitOffset}: ${remark}`);
}

async function committed(broker: BrokerProcess): Promise<number> {
  using client = await RawClient.connect(`127.0.0.1:${broker.port}`);
  const answer = await client.ask(RequestCode.QUERY_CONSUMER_OFFSET, { ext: encodeQueryConsumerOffset(place) });
  assert.equal(answer.code, ResponseCode.SUCCESS, `query of the offset: ${answer.remark}`);
  return decodeQueryConsumerOffsetResponse(answer.ext).offset;
}
