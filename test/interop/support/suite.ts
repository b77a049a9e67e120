import assert from 'node:assert/strict';
import { after, afterEach, before } from 'mocha';
import { until } from '../../support/until.js';
import { Driver, type InMessage, type OutMessage, type PushConsumer, type Queue } from './driver.js';
import { JavaError, javaClasspath, requireJava } from './java.js';
import { endLivingServers, serverLogTails, startTarget, type Target } from './target.js';

/**
 * What most tests share: one JVM with the clients, one target. Importing this file also gives the whole run its root
 * hooks: Java is asked for first, the servers' logs are shown after a failure, everything ends at the end.
 */
let sharedDriver: Promise<Driver> | undefined;
let sharedTarget: Promise<Target> | undefined;

export function driver(): Promise<Driver> {
  sharedDriver ??= Driver.start();
  return sharedDriver;
}

/** Options a test may count on: SQL92 filters, and retries that come after one second instead of ten. */
export function target(): Promise<Target> {
  sharedTarget ??= startTarget({
    options: { enablePropertyFilter: true, messageDelayLevel: '1s 1s 1s 1s 1s 2s 2s 2s 2s 2s 3s 3s 3s 3s 3s 3s 3s 3s' },
  });
  return sharedTarget;
}

before(async function () {
  this.timeout(300_000);
  requireJava();
  await javaClasspath(); // may fetch the jars: no test's own time
});

afterEach(function () {
  const tails = serverLogTails();
  if (this.currentTest?.state === 'failed') process.stderr.write(`${tails}\n`);
});

after(async function () {
  this.timeout(60_000);
  // One that failed to start has nothing to stop, and its own test reports it.
  await (await settled(sharedDriver))?.stop();
  await (await settled(sharedTarget))?.stop();
  await endLivingServers();
});

async function settled<T>(promise: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await promise;
  } catch {
    return undefined;
  }
}

let names = 0;

/** A topic or group name that no other test of this run uses. */
export function unique(word: string): string {
  return `${word}_${process.pid}_${++names}`;
}

/** How long a test waits for Java clients, which share few cores with everything else; met conditions end at once. */
export const patienceMs = 30_000;

/** What mqadmin printed, line by line without trailing blanks; fails when it complained. */
export async function mqadmin(target: Target, command: string, ...args: string[]): Promise<string[]> {
  const printed = await (await driver()).mqadmin(command, '-n', target.namesrv, ...args);
  const complaints = printed.err.split('\n').filter((line) => line !== '' && !line.startsWith('\tat '));
  assert.deepEqual(complaints, [], `mqadmin ${command}`);
  return printed.out
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}

/** Makes a topic with mqadmin and waits until the name server knows it. */
export async function createTopic(target: Target, topic: string, queues = 4, perm = 6): Promise<Queue[]> {
  const count = String(queues);
  const made = await mqadmin(
    ...([target, 'updateTopic', '-b', target.broker, '-t', topic] as const),
    ...['-r', count, '-w', count, '-p', String(perm)],
  );
  assert.equal(made[0], `create topic to ${target.broker} success.`);
  await routed(target, topic);
  return Array.from({ length: queues }, (_, queueId) => ({ topic, brokerName: target.brokerName, queueId }));
}

/** Waits until the name server knows a topic. */
export async function routed(target: Target, topic: string): Promise<void> {
  const shared = await driver();
  const known = async (): Promise<boolean> =>
    (await shared.mqadmin('topicRoute', '-n', target.namesrv, '-t', topic)).out.includes('"queueDatas"');
  await until(known, `the name server knows the route of ${topic}`, patienceMs);
}

/** Waits until a consumer has so many messages. Returns them. */
export async function arrived(
  consumer: PushConsumer,
  count: number,
  deadlineMs = patienceMs,
): Promise<readonly InMessage[]> {
  try {
    await until(() => consumer.received.length >= count, `${consumer.handle} has ${count} messages`, deadlineMs);
  } catch (error) {
    const had = consumer.received.map((m) => `${m.properties['KEYS'] ?? m.msgId} of ${m.queueId}/${m.queueOffset}`);
    throw new Error(`${String(error)}; it has ${had.length}: ${had.join(', ')}`, { cause: error });
  }
  return consumer.received;
}

/** Messages with keys `k0`, `k1`, … and bodies that name topic and number. */
export function numbered(topic: string, count: number, from = 0): OutMessage[] {
  return Array.from({ length: count }, (_, i) => ({ topic, keys: `k${from + i}`, body: `${topic} ${from + i}` }));
}

/** The keys of messages, sorted by number: to compare what came with what was sent. */
export function keysOf(
  messages: readonly { keys?: string; properties?: Readonly<Record<string, string>> }[],
): string[] {
  const keys = messages.map((message) => message.keys ?? message.properties?.['KEYS'] ?? '');
  return keys.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
}

/** What a promise fails with; fails when it does not. */
export async function failure(promise: Promise<unknown>): Promise<JavaError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof JavaError) return error;
    throw error;
  }
  assert.fail('should have failed');
}
