import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { StoreState } from './driver.js';
import type { Options } from './servers.js';

export const segmentBytes = 1_048_576;
export const queueFileBytes = 6000;
export const unitBytes = 20;

/** Files so small that many of them fill, for both brokers. Level 3 is that of a first retry, level 4 is never due. */
export const smallFiles: Options = {
  mappedFileSizeCommitLog: segmentBytes,
  mappedFileSizeConsumeQueue: queueFileBytes,
  maxMessageSize: 262_144,
  enablePropertyFilter: true,
  messageDelayLevel: '1s 2s 5s 1h',
  transactionCheckInterval: 1500,
  transactionTimeOut: 1500,
};

/** The part of `smallFiles` that RocketMQ's store alone knows. */
export const smallStore = {
  mappedFileSizeCommitLog: segmentBytes,
  mappedFileSizeConsumeQueue: queueFileBytes,
  messageDelayLevel: '1s 2s 5s 1h',
  maxHashSlotNum: 50_000,
  maxIndexNum: 200_000,
} as const;

/** A copy at this moment; of a broker that runs it is what a crash would leave, but for the time that copying takes. */
export function copyStore(from: string, to: string): string {
  cpSync(from, to, { recursive: true });
  return to;
}

/** Content of every file below a folder, by its path in it; empty when there is no such folder. */
export function filesBelow(folder: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  if (!existsSync(folder)) return files;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name);
    if (statSync(path).isFile()) files.set(relative(folder, path), readFileSync(path));
  }
  return files;
}

/** The same files with the same bytes in both; tells the first byte that differs. */
export function assertSameFiles(actual: string, expected: string, what: string): void {
  const [mine, theirs] = [filesBelow(actual), filesBelow(expected)];
  assert.deepEqual([...mine.keys()], [...theirs.keys()], `${what}: names of the files`);
  for (const [name, bytes] of mine) assertSameBytes(bytes, theirs.get(name) ?? Buffer.alloc(0), `${what}: ${name}`);
}

export function assertSameBytes(actual: Buffer, expected: Buffer, what: string): void {
  if (actual.equals(expected)) return;
  let at = 0;
  while (at < Math.min(actual.length, expected.length) && actual[at] === expected[at]) at++;
  const part = (bytes: Buffer): string => bytes.subarray(Math.max(0, at - 20), at + 60).toString('hex');
  assert.fail(
    `${what}: ${actual.length} and ${expected.length} bytes, different from ${at} on\n${part(actual)}\n${part(expected)}`,
  );
}

/** The whole log without the zeros at its end. Its first file must not be gone. */
export function logBytes(storeDir: string): Buffer {
  const all = Buffer.concat([...filesBelow(join(storeDir, 'commitlog')).values()]);
  let end = all.length;
  while (end > 0 && all[end - 1] === 0) end--;
  return all.subarray(0, end);
}

/** The files of a queue in one piece. Its first file must not be gone. */
export function queueBytes(storeDir: string, topic: string, queueId: number): Buffer {
  return Buffer.concat([...filesBelow(join(storeDir, 'consumequeue', topic, String(queueId))).values()]);
}

/** What stood in the log then stands in it still, byte for byte. */
export function assertLogGrew(before: Buffer, storeDir: string): void {
  assertSameBytes(logBytes(storeDir).subarray(0, before.length), before, 'the log before');
}

/** Up to which store times everything is synced, ms: log, queues, index. */
export function checkpointTimes(storeDir: string): readonly [number, number, number] {
  const bytes = readFileSync(join(storeDir, 'checkpoint'));
  assert.equal(bytes.length, 4096);
  return [0, 8, 16].map((at) => Number(bytes.readBigInt64BE(at))) as [number, number, number];
}

/** A settings file as fastjson wrote it: numbers as keys stand bare. */
export function parseSettings(text: string): unknown {
  return JSON.parse(text.replace(/([{,]\s*)(\d+)(\s*:)/g, '$1"$2"$3'));
}

export function settingsOf(storeDir: string, name: string): unknown {
  return parseSettings(readFileSync(join(storeDir, 'config', name), 'utf8'));
}

/** `topic/queue: minimum-maximum`, for comparing; queues that never had a message are left out. */
export function queueEnds(queues: StoreState['queues']): string[] {
  return queues
    .filter((queue) => queue.maxOffset > 0)
    .map(({ topic, queueId, minOffset, maxOffset }) => `${topic}/${queueId}: ${minOffset}-${maxOffset}`)
    .sort();
}
