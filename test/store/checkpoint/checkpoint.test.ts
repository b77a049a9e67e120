import assert from 'node:assert/strict';
import {
  markEnded,
  markRunning,
  NO_CHECKPOINT,
  readCheckpoint,
  wasAborted,
  writeCheckpoint,
} from '../../../store/checkpoint/checkpoint.js';
import { LossyFiles, PowerCut } from '../../support/lossy-files.js';

const times = (n: number): typeof NO_CHECKPOINT => ({
  physicMsgTimestamp: n,
  logicsMsgTimestamp: n + 1,
  indexMsgTimestamp: n + 2,
});

describe('checkpoint', () => {
  it('is a page with three times, as 4.9 maps it', () => {
    const files = new LossyFiles();
    writeCheckpoint(files, '/s/checkpoint', times(1_700_000_000_000));
    const bytes = files.readAll('/s/checkpoint');
    assert.equal(bytes.length, 4096);
    assert.equal(bytes.subarray(0, 24).toString('hex'), '0000018bcfe568000000018bcfe568010000018bcfe56802');
    assert.ok(bytes.subarray(24).every((byte) => byte === 0));
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), times(1_700_000_000_000));
    writeCheckpoint(files, '/s/checkpoint', times(5));
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), times(5));
  });

  it('keeps the time of the queues alone behind them, until 4.9 writes others', () => {
    const files = new LossyFiles();
    const own = { ...times(1000), queuesSyncedMs: 5000 };
    writeCheckpoint(files, '/s/checkpoint', own);
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), own);
    for (const at of [7, 15, 23, 31, 35]) {
      const bytes = files.readAll('/s/checkpoint');
      bytes[at]! ^= 1;
      files.replace('/s/other', bytes, false);
      assert.equal(readCheckpoint(files, '/s/other').queuesSyncedMs, undefined);
    }
    writeCheckpoint(files, '/s/checkpoint', times(1000));
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), times(1000));
  });

  it('reads as zeros when it is missing, short or nonsense', () => {
    const files = new LossyFiles();
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), NO_CHECKPOINT);
    files.replace('/s/checkpoint', '', false);
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), NO_CHECKPOINT);
    files.replace('/s/checkpoint', Buffer.alloc(4096, 255), false);
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), NO_CHECKPOINT);
    files.replace('/s/checkpoint', Buffer.alloc(23), false);
    writeCheckpoint(files, '/s/checkpoint', times(9));
    assert.deepEqual(readCheckpoint(files, '/s/checkpoint'), times(9));
    assert.equal(files.sizeOf('/s/checkpoint'), 4096);
  });

  it('is the old or the new one after a power cut', () => {
    for (let operation = 1; operation < 4; operation += 1) {
      const files = new LossyFiles();
      writeCheckpoint(files, '/s/checkpoint', times(1_000_000));
      files.cutAt(files.operations + operation);
      let acknowledged = false;
      try {
        writeCheckpoint(files, '/s/checkpoint', times(2_000_000));
        acknowledged = true;
      } catch (error) {
        assert.ok(error instanceof PowerCut);
      }
      const found = readCheckpoint(files.restart('everything'), '/s/checkpoint');
      assert.deepEqual(found, times(acknowledged ? 2_000_000 : 1_000_000));
    }
  });

  it('marks a run until it has ended', () => {
    const files = new LossyFiles();
    assert.equal(wasAborted(files, '/s/abort'), false);
    markRunning(files, '/s/abort');
    markRunning(files, '/s/abort');
    assert.equal(wasAborted(files.restart('everything'), '/s/abort'), true);
    const next = new LossyFiles();
    markRunning(next, '/s/abort');
    markEnded(next, '/s/abort');
    markEnded(next, '/s/abort');
    assert.equal(wasAborted(next.restart('everything'), '/s/abort'), false);
  });
});
