import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { until } from '../support/until.js';
import type { LoadResult, Producer, Queue } from './support/driver.js';
import {
  blankQueues,
  emptySegment,
  logRecords,
  onlyVouched,
  onlyVouchedQueues,
  shortQueueFile,
  tornTail,
  withoutQueues,
} from './support/crash-images.js';
import { recoverHere } from './support/our-view.js';
import {
  assertSameBytes,
  checkpointTimes,
  copyStore,
  logBytes,
  queueBytes,
  queueEnds,
  smallFiles,
  smallStore,
  unitBytes,
} from './support/store-folder.js';
import { createTopic, driver, numbered, unique } from './support/suite.js';
import {
  defaultKind,
  startNameServer,
  startTarget,
  type NameServer,
  type Target,
  type TargetKind,
} from './support/target.js';

const loadThreads = 4;
const loadBodyBytes = 1024;
const loadMessages = 1200;
/** So that the checkpoint moves soon; 4.9 does not know the last one. */
const thorough = { flushConsumeQueueThoroughInterval: 1000, flushCommitLogThoroughInterval: 1000 };
const options = { ...smallFiles, ...thorough, indexSyncIntervalMs: 200 };
const neverLevel = 4;
const neverMs = 3_600_000;

/** Makes a damaged copy of an image; returns its folder. */
type Damage = (image: string, to: string) => string;

/** Every test goes on with what the one before it left. */
describe('kill -9 in the middle of a load', function () {
  this.timeout(180_000);
  const acknowledged: LoadResult['acknowledged'] = [];
  const topic = unique('crash');
  let folder: string;
  let storeDir: string;
  let namesrv: NameServer;
  let served: Target | undefined;
  let queues: Queue[] = [];

  before(async function () {
    if (defaultKind === 'jvm') this.skip();
    folder = mkdtempSync(join(tmpdir(), 'mqkernel-crash-'));
    storeDir = join(folder, 'store');
    namesrv = await startNameServer();
  });
  after(async () => {
    await served?.stop();
    await namesrv?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  it('ours ends so', () => isKilled(defaultKind));

  it('the real one goes on, and ends so, too', () => isKilled('jvm'));

  it('ours goes on; a clean stop leaves the real one nothing to do', async () => {
    await starts(defaultKind);
    await everythingIsThere();
    await served?.stop();
    served = undefined;
    assert.equal(existsSync(join(storeDir, 'abort')), false);
    const java = await driver();
    const { dispatched, maxPhyOffset } = await java.openStore(storeDir, smallStore);
    await java.closeStore(storeDir);
    assert.deepEqual([dispatched, maxPhyOffset], [0, logBytes(storeDir).length]);
  });

  const alike: Record<string, [of: TargetKind, crash?: Damage]> = {
    'ours, killed': ['kernel'],
    'the real one, killed': ['jvm'],
    'ours, last record torn': ['kernel', tornTail],
    'ours, all gone for which its checkpoint does not vouch': ['kernel', onlyVouched],
    'the real one, all gone for which its checkpoint does not vouch': ['jvm', onlyVouched],
    'ours, all of its queues gone for which its checkpoint does not vouch': ['kernel', onlyVouchedQueues],
    'the real one, all of its queues gone for which its checkpoint does not vouch': ['jvm', onlyVouchedQueues],
  };
  for (const [what, [kind, damage]] of Object.entries(alike))
    it(`both bring the same image into the same order: ${what}`, () => recoverAlike(what, kind, damage));

  const better: Record<string, Damage> = {
    'queue files of zeros, which 4.9 takes for the end of a queue': blankQueues,
    'an empty last segment, with which 4.9 does not start': emptySegment,
    'a short queue file, with which 4.9 does not start': shortQueueFile,
  };
  for (const [what, damage] of Object.entries(better))
    it(`ours does what 4.9 does once the queues were removed: ${what}`, () =>
      recoverAlike(what, 'jvm', damage, withoutQueues));

  async function starts(kind: TargetKind): Promise<Target> {
    const before = served;
    served = await startTarget({
      kind,
      storeDir,
      namesrv: namesrv.address,
      options,
      ...(before === undefined ? {} : { sameAddressesAs: before }),
    });
    return served;
  }

  async function isKilled(kind: TargetKind): Promise<void> {
    const java = await driver();
    const killed = await starts(kind);
    if (queues.length === 0) queues = await createTopic(killed, topic);
    else await everythingIsThere();
    const producer = await java.producer(namesrv.address, { retryTimesWhenSendFailed: 0, sendMsgTimeout: 3_000 });
    const vouched = vouchedUntil(storeDir);
    await loads(producer, () => Promise.resolve());
    await producer.sendBatch(numbered(topic, 5), queues[0]);
    if (kind === 'jvm') await leavesHalfAndDelayed(producer);
    await until(() => vouchedUntil(storeDir) > vouched, 'the checkpoint moves', 20_000);
    await loads(producer, () => killed.kill9());
    await producer.close();
    assert.ok(existsSync(join(storeDir, 'abort')), 'the file abort tells of the crash');
    checkpointIsNotNewer(storeDir);
    copyStore(storeDir, join(folder, `image-${kind}`));
  }

  async function leavesHalfAndDelayed(producer: Producer): Promise<void> {
    const transactions = await (await driver()).transactionProducer(namesrv.address, unique('group'));
    await transactions.send({ topic, body: 'undecided' }, 'UNKNOW');
    await transactions.close();
    for (const message of numbered(topic, 3)) await producer.send({ ...message, delayTimeLevel: neverLevel });
  }

  async function loads(producer: Producer, underLoad: () => Promise<void>): Promise<void> {
    await producer.startLoad(topic, loadThreads, loadBodyBytes);
    await until(async () => (await producer.loadCount()) >= loadMessages, 'the load runs', 60_000);
    await underLoad();
    const result = await producer.stopLoad();
    assert.ok(result.acknowledged.length >= loadMessages);
    acknowledged.push(...result.acknowledged);
  }

  /** What was acknowledged is where its answer said, and no queue has a hole. */
  async function everythingIsThere(): Promise<void> {
    const java = await driver();
    const reader = await java.pullConsumer(namesrv.address, unique('group'));
    for (const queue of queues) {
      const mine = acknowledged.filter((ack) => ack.queue.queueId === queue.queueId);
      const stored = await reader.drain(queue, mine.length);
      stored.forEach((message, i) => assert.equal(message.queueOffset, i));
      for (const ack of mine) {
        const message = stored[ack.queueOffset];
        assert.deepEqual([message?.msgId, message?.body.toString()], [ack.msgId, ack.body]);
      }
    }
    await reader.close();
  }

  async function recoverAlike(
    what: string,
    of: TargetKind,
    damage: Damage = copyStore,
    helpTheRealOne: (copy: string) => void = () => undefined,
  ): Promise<void> {
    const java = await driver();
    const image = join(folder, `image-${of === 'jvm' ? 'jvm' : defaultKind}`);
    // Every copy has a path of its own: the one JVM may not have let go of the last.
    const ours = damage(image, join(folder, unique('ours')));
    const theirs = copyStore(ours, join(folder, unique('theirs')));
    helpTheRealOne(theirs);
    const state = await java.openStore(theirs, smallStore);
    const target = await startTarget({ kind: defaultKind, storeDir: ours, namesrv: namesrv.address, options });
    await Promise.all([target.stop(), java.closeStore(theirs)]);
    for (const queue of state.queues) {
      const [mine, its] = [ours, theirs].map((dir) => queueBytes(dir, queue.topic, queue.queueId));
      assert.ok(mine !== undefined && its !== undefined);
      // 4.9 leaves what it cut off in the file behind the queue's end; ours erases it.
      const end = Buffer.concat([its.subarray(0, queue.maxOffset * unitBytes), Buffer.alloc(mine.length)]);
      // 4.9 dispatches delayed messages without their due time while it recovers.
      if (queue.topic === 'SCHEDULE_TOPIC_XXXX') setDueTimes(end, ours, queue.queueId);
      assertSameBytes(mine, end.subarray(0, mine.length), `${what}: queue ${queue.topic}/${queue.queueId}`);
    }
    assertSameBytes(logBytes(ours), logBytes(theirs).subarray(0, state.maxPhyOffset), `${what}: log`);
    const after = recoverHere(ours);
    assert.deepEqual(
      [after.normalExit, after.validEnd, after.dispatchFrom],
      [true, state.maxPhyOffset, state.maxPhyOffset],
    );
    assert.deepEqual(queueEnds(after.queues), queueEnds(state.queues));
    for (const copy of [ours, theirs]) rmSync(copy, { recursive: true });
  }
});

/** Writes into units of the delayed messages when they are due by the log. */
function setDueTimes(units: Buffer, storeDir: string, queueId: number): void {
  for (const record of logRecords(storeDir)) {
    if (record.topic !== 'SCHEDULE_TOPIC_XXXX' || record.queueId !== queueId) continue;
    assert.equal(record.queueId, neverLevel - 1);
    units.writeBigInt64BE(BigInt(record.storeTimestamp + neverMs), record.queueOffset * unitBytes + 12);
  }
}

/** Up to which store time the checkpoint vouches for log and queues; 0 when there is none. */
function vouchedUntil(storeDir: string): number {
  if (!existsSync(join(storeDir, 'checkpoint'))) return 0;
  const [log, queues] = checkpointTimes(storeDir);
  return Math.min(log, queues);
}

/** The checkpoint names no time of which the log knows nothing. */
function checkpointIsNotNewer(storeDir: string): void {
  if (!existsSync(join(storeDir, 'checkpoint'))) return;
  const newest = Math.max(...logRecords(storeDir).map((record) => record.storeTimestamp));
  for (const time of checkpointTimes(storeDir)) assert.ok(time <= newest, `checkpoint ${time}, log ${newest}`);
}
