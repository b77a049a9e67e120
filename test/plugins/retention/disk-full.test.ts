import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { MessageWriter, StoreState } from '../../../plugins/commitlog/contract.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { encodeUpdateConsumerOffset } from '../../../protocol/headers/update-consumer-offset.js';
import type { DiskUsage } from '../../../store/files/disk-usage.js';
import { fillTopic, hours, logFiles, makeOld, smallFiles } from '../../support/old-store.js';
import { pullAll, send } from '../../support/send-pull.js';
import { newMessage } from '../../support/records.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const SEGMENT = smallFiles.mappedFileSizeCommitLog;
const GiB = 2 ** 30;

/** Two disks, for the log and for everything else, that are as full as a test says. */
class FakeDisks {
  logPercent = 50;
  otherPercent = 50;
  looks = 0;

  readonly usage = (path: string): DiskUsage => {
    this.looks++;
    const percent = path.includes('commitlog') ? this.logPercent : this.otherPercent;
    return { total: 100 * GiB, used: percent * GiB, usable: (100 - percent) * GiB };
  };
}

function brokerOn(dir: string, disks: FakeDisks, more: object = {}): Promise<TestBroker> {
  const own = { ...smallFiles, storePathRootDir: dir, deleteWhen: hours().never, diskCheckIntervalMs: 10, ...more };
  return testBroker({ options: own, disk: disks.usage });
}

const linesOf = (broker: TestBroker, pattern: RegExp): number =>
  broker.lines.filter(({ message }) => pattern.test(message)).length;

describe('a disk above diskSpaceWarningLevelRatio (B07)', () => {
  it('refuses sends with 14 and the ratios; reads, commits and dispatch go on; it heals by itself', async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    await using broker = await brokerOn(dir.path, disks, { cleanFileForciblyEnable: false });
    using client = await broker.connect();
    await fillTopic(client, 40);
    disks.logPercent = 90.5;
    const probe = async (): Promise<number> => (await send(client, { topic: 'Probe' })).code;
    await until(async () => (await probe()) === ResponseCode.SERVICE_NOT_AVAILABLE, 'sends are refused');
    const stored = broker.get(StoreState).watermarks.get(Watermark.appended);
    for (let time = 0; time < 5; time++) {
      const { code, remark } = await send(client);
      assert.equal(code, ResponseCode.SERVICE_NOT_AVAILABLE);
      assert.equal(
        remark,
        "service not available now: the broker's disk is full [CL:  0.91 CQ:  0.50 INDEX:  0.50]: " +
          'sends are refused above 0.90 (diskSpaceWarningLevelRatio)',
      );
    }
    assert.ok((await pullAll(client, 40)).length === 40);
    const ext = encodeUpdateConsumerOffset({ consumerGroup: 'G', topic: 'T', queueId: 0, commitOffset: 7 });
    assert.equal((await client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, { ext })).code, 0);
    assert.equal(broker.get(StoreState).watermarks.get(Watermark.appended), stored, 'nothing was stored');
    disks.logPercent = 90;
    await until(async () => (await send(client)).code === 0, 'sends are taken again');
    assert.deepEqual([linesOf(broker, /a disk is full/), linesOf(broker, /have space again/)], [1, 1]);
  });

  it('may be that of the queues alone', async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    disks.otherPercent = 99;
    await using broker = await brokerOn(dir.path, disks);
    using client = await broker.connect();
    const { code, remark } = await send(client);
    assert.equal(code, ResponseCode.SERVICE_NOT_AVAILABLE, 'the first send already');
    assert.match(String(remark), /\[CL: {2}0\.50 CQ: {2}0\.99 INDEX: {2}0\.99\]/);
  });

  it('never refuses when the setting is 100', async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    disks.logPercent = 100;
    await using broker = await brokerOn(dir.path, disks, { diskSpaceWarningLevelRatio: 100 });
    using client = await broker.connect();
    assert.equal((await send(client)).code, 0);
  });

  it("refuses the store's own messages, too, such as those that fall due", async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    disks.logPercent = 95;
    await using broker = await brokerOn(dir.path, disks);
    const { status, reason } = await broker.get(MessageWriter).append(newMessage());
    assert.equal(status, 'readOnly');
    assert.match(reason, /disk is full/);
    const { watermarks } = broker.get(StoreState);
    assert.ok(watermarks.isHeldBack, 'services that store are told');
    disks.logPercent = 50;
    await until(() => !watermarks.isHeldBack, 'they may store again');
  });

  it('is seen while files are deleted, however long that takes; a stop does not wait for it', async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    const slow = { deleteCommitLogFilesInterval: 3_600_000, cleanFileForciblyEnable: false };
    const broker = await brokerOn(dir.path, disks, slow);
    using client = await broker.connect();
    await fillTopic(client, 60);
    const files = logFiles(dir.path).length;
    makeOld(dir.path, 3);
    await client.ask(RequestCode.DELETE_EXPIRED_COMMITLOG);
    await until(() => logFiles(dir.path).length === files - 1, 'the first file is gone, the second one waits');
    disks.logPercent = 91;
    await until(async () => (await send(client)).code === ResponseCode.SERVICE_NOT_AVAILABLE, 'sends are refused');
    disks.logPercent = 80;
    await until(async () => (await send(client)).code === 0, 'sends are taken again');
    await broker.stop();
    assert.equal(logFiles(dir.path).length, files - 3, 'what was given up is removed without the pauses');
  });
});

describe('a disk above diskMaxUsedSpaceRatio or diskSpaceCleanForciblyRatio', () => {
  it('lets old files go at any hour', async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    await using broker = await brokerOn(dir.path, disks, { cleanResourceInterval: 10 });
    using client = await broker.connect();
    await fillTopic(client, 60);
    makeOld(dir.path, 2);
    const { watermarks } = broker.get(StoreState);
    disks.logPercent = 76;
    await until(() => watermarks.get(Watermark.logMin) === 2 * SEGMENT, 'the two old files are gone');
    assert.equal((await send(client)).code, 0);
  });

  it('takes the oldest ones, as many as are needed, whatever their age', async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    await using broker = await brokerOn(dir.path, disks);
    using client = await broker.connect();
    await fillTopic(client, 100);
    const { watermarks } = broker.get(StoreState);
    disks.logPercent = 85 + (100 * 2.5 * SEGMENT) / (100 * GiB);
    await until(() => watermarks.get(Watermark.logMin) > 0, 'something is gone');
    const first = logFiles(dir.path)[3];
    await until(() => logFiles(dir.path)[0] === first, 'its files are removed');
    const { looks } = disks;
    await until(() => disks.looks > looks + 40, 'the disk was looked at again');
    assert.equal(watermarks.get(Watermark.logMin), 3 * SEGMENT, 'no more, before the disk can show what that freed');
  });

  it('leaves young files alone without cleanFileForciblyEnable, and says so once', async () => {
    using dir = tempDir();
    const disks = new FakeDisks();
    const own = { cleanFileForciblyEnable: false, cleanResourceInterval: 10 };
    await using broker = await brokerOn(dir.path, disks, own);
    using client = await broker.connect();
    await fillTopic(client, 40);
    disks.logPercent = 89;
    const said = (): number => linesOf(broker, /no file of the commit log may be deleted/);
    await until(() => said() > 0, 'it is said');
    makeOld(dir.path, 1);
    await until(() => broker.get(StoreState).watermarks.get(Watermark.logMin) === SEGMENT, 'an old one goes');
    assert.equal(said(), 1);
    assert.equal((await send(client)).code, 0);
  });
});
