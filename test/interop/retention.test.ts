import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { RequestCode } from '../../protocol/codes.js';
import {
  decodeQueryConsumerOffsetResponse,
  encodeQueryConsumerOffset,
} from '../../protocol/headers/query-consumer-offset.js';
import { encodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import { hours, logFiles, makeOld, queueSpan } from '../support/old-store.js';
import { RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';
import type { Producer } from './support/driver.js';
import { createTopic, driver, mqadmin, unique } from './support/suite.js';
import { defaultKind, startTarget, type Target } from './support/target.js';

/** The original looks for old files a minute after its start, then every 10 s. */
const deletedMs = 90_000;
/** The client waits 10 s before it begins anew at the offset that it is told, then for its next rebalance, which comes every 20 s. */
const movedMs = 60_000;

const options = {
  mappedFileSizeCommitLog: 1 << 20,
  mappedFileSizeConsumeQueue: 2000,
  deleteWhen: hours().never,
  deleteCommitLogFilesInterval: 0,
};
const body = 'x'.repeat(60_000);

describe('old messages are deleted', function () {
  this.timeout(300_000);
  let storeDir: string;
  let served: Target;
  let producer: Producer;
  let raw: RawClient;

  beforeEach(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'mqkernel-store-'));
    served = await startTarget({ storeDir, options });
    producer = await (await driver()).producer(served.namesrv, { compressMsgBodyOverHowmuch: 1 << 20 });
    raw = await RawClient.connect(served.broker);
  });

  afterEach(async () => {
    raw[Symbol.dispose]();
    await producer.close();
    await served.stop();
    rmSync(storeDir, { recursive: true, force: true });
  });

  async function send(topic: string, count: number): Promise<void> {
    for (let i = 0; i < count; i++)
      await producer.send({ topic, body }, { topic, brokerName: served.brokerName, queueId: 0 });
  }

  /** As an operator does it, with the first files of the log made old. */
  async function deleteOld(files: number, topic: string): Promise<readonly [number, number]> {
    const [first] = await queueSpan(raw, topic);
    makeOld(storeDir, files);
    assert.deepEqual(await mqadmin(served, 'deleteExpiredCommitLog', '-b', served.broker), ['success']);
    await until(async () => (await queueSpan(raw, topic))[0] > first, `${topic} begins later`, deletedMs);
    return queueSpan(raw, topic);
  }

  async function committed(group: string, topic: string): Promise<number> {
    const ext = encodeQueryConsumerOffset({ consumerGroup: group, topic, queueId: 0 });
    const answer = await raw.ask(RequestCode.QUERY_CONSUMER_OFFSET, { ext });
    return answer.code === 0 ? decodeQueryConsumerOffsetResponse(answer.ext).offset : -1;
  }

  /** A push consumer of a group that stands at 0; returns the offsets of what it got until it stands at `end`. */
  async function consume(topic: string, end: number): Promise<number[]> {
    const group = unique('late');
    const ext = encodeUpdateConsumerOffset({ consumerGroup: group, topic, queueId: 0, commitOffset: 0 });
    assert.equal((await raw.ask(RequestCode.UPDATE_CONSUMER_OFFSET, { ext })).code, 0);
    const consumer = await (await driver()).pushConsumer({ namesrv: served.namesrv, group, topic });
    await until(async () => (await committed(group, topic)) === end, `${group} stands at ${end}`, movedMs);
    await consumer.close();
    return consumer.received.map(({ queueOffset }) => queueOffset).sort((a, b) => a - b);
  }

  it('and a group whose backlog is gone goes on at the first message that is there (B16)', async () => {
    const topic = unique('expired');
    await createTopic(served, topic, 1);
    await send(topic, 90);
    const [min, max] = await deleteOld(4, topic);
    assert.ok(min > 60 && min < 72 && max === 90, `${min} to ${max}`);
    assert.deepEqual(
      await consume(topic, max),
      Array.from({ length: max - min }, (_, index) => min + index),
    );
    const status = await mqadmin(served, 'topicStatus', '-t', topic);
    assert.match(status[1] ?? '', new RegExp(`^broker-a +0 +${min} +${max} `));
  });

  it('and a group of which nothing is left stands at the end (B16)', async function () {
    // 4.9 leaves such a queue at its old minimum: its messages are "being removed" one after the other.
    if (defaultKind === 'jvm') return this.skip();
    const topic = unique('gone');
    await createTopic(served, topic, 1);
    await send(topic, 30);
    const other = unique('other');
    await createTopic(served, other, 1);
    await send(other, 40);
    assert.deepEqual(await deleteOld(2, topic), [30, 30]);
    assert.deepEqual(await consume(topic, 30), []);
  });

  it('and the store moves to the original and back with what is left', async function () {
    if (defaultKind === 'jvm') return this.skip();
    const [topic, gone] = [unique('moved'), unique('empty')];
    for (const name of [topic, gone]) await createTopic(served, name, 1);
    await send(gone, 5);
    await send(topic, 90);
    const span = await deleteOld(4, topic);
    assert.deepEqual(await queueSpan(raw, gone), [5, 5]);
    const queue = { topic, brokerName: served.brokerName, queueId: 0 };
    for (const kind of ['jvm', 'kernel'] as const) {
      await served.stop();
      raw[Symbol.dispose]();
      served = await startTarget({ kind, storeDir, options, sameAddressesAs: served });
      raw = await RawClient.connect(served.broker);
      assert.deepEqual(await queueSpan(raw, topic), span, kind);
      assert.equal((await queueSpan(raw, gone))[1], 5, kind);
      const reader = await (await driver()).pullConsumer(served.namesrv, unique('group'));
      const read = await reader.drain(queue, span[1]);
      assert.deepEqual(
        read.map(({ queueOffset }) => queueOffset),
        Array.from({ length: span[1] - span[0] }, (_, index) => span[0] + index),
        kind,
      );
      await reader.close();
    }
  });

  it('cleanExpiredCQ removes the files of queues without messages, cleanUnusedTopic those of topics that are gone', async () => {
    const [topic, other] = [unique('empty'), unique('filled')];
    for (const name of [topic, other]) await createTopic(served, name, 1);
    await send(topic, 5);
    await send(other, 60);
    await deleteOld(2, other);
    const queueFiles = (name: string): string[] => {
      const dir = join(storeDir, 'consumequeue', name, '0');
      return existsSync(dir) ? readdirSync(dir) : [];
    };
    assert.equal(queueFiles(topic).length, 1);
    assert.deepEqual(await mqadmin(served, 'cleanExpiredCQ', '-b', served.broker), ['success']);
    assert.deepEqual([queueFiles(topic).length, queueFiles(other).length], [0, 1]);
    assert.ok(logFiles(storeDir).length > 1);
    assert.deepEqual(await mqadmin(served, 'cleanUnusedTopic', '-b', served.broker), ['success']);
    assert.equal(queueFiles(other).length, 1, 'its topic exists');
  });
});
