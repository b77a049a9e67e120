import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { readCheckpoint } from '../../../store/checkpoint/checkpoint.js';
import { LogServices, runToRest } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';

/** Ten messages in each of three queues, dispatched by a life that dies before it syncs. */
function afterADeath() {
  const disk = new LossyFiles();
  const store = new LogServices({ files: disk, segmentBytes: 1 << 20, queueFileBytes: 100 });
  const appender = store.appender();
  const dispatchFrom = store.mark(Watermark.dispatched);
  for (let i = 0; i < 30; i++) store.put({ queueId: i % 3 });
  store.append(appender);
  runToRest(store.dispatcher({ dispatchFrom }));
  return { disk, store, appender, dispatchFrom };
}

/** Bytes of the queue files that a power cut leaves which loses all that was not synced. */
function survivingUnits(disk: LossyFiles, store: LogServices): number {
  const left = disk.restart('everything');
  let units = 0;
  for (const queueId of left.list(`${store.queueDir}/T`))
    for (const name of left.list(`${store.queueDir}/T/${queueId}`)) {
      const file = left.readAll(`${store.queueDir}/T/${queueId}/${name}`);
      for (let at = 0; at < file.length; at += 20) if (file.readInt32BE(at + 8) > 0) units++;
    }
  return units;
}

describe('dispatcher after a death', () => {
  it('syncs what the life before it wrote, before a checkpoint vouches for it', () => {
    const { disk, store, appender, dispatchFrom } = afterADeath();
    const next = store.dispatcher({ dispatchFrom });
    store.put({ queueId: 0 });
    store.append(appender);
    runToRest(next);
    store.clock.advance(1000);
    runToRest(next);
    assert.ok(readCheckpoint(disk, store.checkpointPath).logicsMsgTimestamp > 0);
    assert.equal(survivingUnits(disk, store), 31);
  });

  it('does so at its end, too, and leaves the checkpoint alone when it dispatched nothing', async () => {
    const { disk, store, dispatchFrom } = afterADeath();
    const next = store.dispatcher({ dispatchFrom });
    runToRest(next);
    await next.calls.syncNow();
    assert.equal(disk.exists(store.checkpointPath), false);
    assert.equal(survivingUnits(disk, store), 30);
  });

  it('says so when that fails', async () => {
    const { disk, store, dispatchFrom } = afterADeath();
    disk.fail({ operation: 'sync', path: 'consumequeue', code: 'EIO' });
    await assert.rejects(store.dispatcher({ dispatchFrom }).calls.syncNow(), { code: 'QUEUES_NOT_SYNCED' });
    assert.equal(disk.exists(store.checkpointPath), false);
  });
});

describe('dispatcher that cannot write the checkpoint', () => {
  it('says so once, tries again at the next interval, and does not distrust the queues', async () => {
    const disk = new LossyFiles();
    const store = new LogServices({ files: disk, segmentBytes: 1 << 20 });
    const appender = store.appender();
    const dispatcher = store.dispatcher();
    disk.fail({ operation: 'create', path: 'checkpoint', code: 'ENOSPC' });
    store.put({});
    store.append(appender);
    runToRest(dispatcher);
    await dispatcher.calls.syncNow();
    assert.equal(disk.exists(store.checkpointPath), false);
    store.clock.advance(1000);
    runToRest(dispatcher);
    assert.ok(readCheckpoint(disk, store.checkpointPath).logicsMsgTimestamp > 0);
    assert.equal(store.logger.lines.filter(({ level }) => level === 'error').length, 1);
  });
});
