import assert from 'node:assert/strict';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { readCheckpoint } from '../../../store/checkpoint/checkpoint.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { indexLayout } from '../../../store/index/layout.js';
import { queryIndex } from '../../../store/index/query.js';
import { SharedIndex } from '../../../store/index/shared-index.js';
import type { IndexBoot } from '../../../workers/reput/contract.js';
import type { Dispatcher } from '../../../workers/reput/dispatcher.js';
import { LogServices, runToRest } from '../../support/log-services.js';
import { LossyFiles } from '../../support/lossy-files.js';

const dir = '/store/index';
const layout = indexLayout(64, 1000);

class Indexed extends LogServices {
  readonly memory = SharedIndex.allocate(layout.slots);
  readonly appending = this.appender();
  #sent = 0;

  constructor(files: LossyFiles | MemoryFiles) {
    super({ files, segmentBytes: 8192, queueFileBytes: 20_000 });
  }

  dispatching(changes: Partial<IndexBoot> = {}): Dispatcher {
    const { memory } = this;
    const index = { dir, layout, memory, syncIntervalMs: 10_000, inBackground: false, ...changes };
    return this.dispatcher({ index });
  }

  /** Messages with the keys `k0`, `k1`, … */
  send(count: number): void {
    for (let left = count; left > 0; left--) this.put({ properties: `KEYS\u0001k${this.#sent++}\u0002` });
    this.append(this.appending);
  }

  has(key: string): boolean {
    const { dir: logDir, temporaryDir, segmentBytes, files } = this.log;
    const place = { dir, layout, memory: this.memory, logDir, temporaryDir, segmentBytes };
    const bounds = { beginMs: 0, endMs: Infinity, logMin: this.mark(Watermark.logMin), patienceMs: 0 };
    const query = { topic: 'T', key, maxNum: 1, logEnd: this.mark(Watermark.appended), ...bounds };
    return queryIndex(files, place, query).records.length > 0;
  }

  checkpoint() {
    return readCheckpoint(this.log.files, this.checkpointPath);
  }

  errors(): unknown[] {
    return this.logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
  }
}

describe('indexer', () => {
  it('takes its entries from the pass of the dispatcher, with one write per chunk', () => {
    const disk = new LossyFiles();
    const store = new Indexed(disk);
    const dispatcher = store.dispatching();
    store.send(10);
    runToRest(dispatcher);
    store.send(20);
    const before = disk.operations;
    runToRest(dispatcher);
    // The queue's units and the index's entries.
    assert.equal(disk.operations - before, 2);
    assert.equal(store.mark(Watermark.indexed), store.mark(Watermark.appended));
    for (const key of ['k0', 'k29']) assert.ok(store.has(key), key);
    store.close();
  });

  it('never stops the queues: a full disk leaves it behind, and it catches up when there is room', () => {
    const disk = new LossyFiles();
    const store = new Indexed(disk);
    const dispatcher = store.dispatching();
    store.send(5);
    runToRest(dispatcher);
    const indexed = store.mark(Watermark.indexed);
    for (let failures = 0; failures < 3; failures++) {
      disk.fail({ operation: 'write', path: dir, code: 'ENOSPC' });
      store.send(5);
      runToRest(dispatcher);
      assert.equal(store.mark(Watermark.dispatched), store.mark(Watermark.appended));
      assert.equal(store.mark(Watermark.indexed), indexed);
      store.clock.advance(1000);
    }
    assert.deepEqual([store.has('k4'), store.has('k5')], [true, false]);
    assert.equal(store.errors().length, 1, 'said once');
    disk.fail({ operation: 'write', path: 'nowhere', code: 'ENOSPC' });
    runToRest(dispatcher);
    store.clock.advance(1000);
    runToRest(dispatcher);
    assert.equal(store.mark(Watermark.indexed), store.mark(Watermark.appended));
    for (let key = 0; key < 20; key++) assert.ok(store.has(`k${key}`), `k${key}`);
    store.close();
  });

  it('goes back with the dispatcher when a queue cannot be written, and puts nothing twice', () => {
    const disk = new LossyFiles();
    const store = new Indexed(disk);
    const dispatcher = store.dispatching();
    store.send(3);
    disk.fail({ operation: 'write', path: 'consumequeue', code: 'EIO' });
    runToRest(dispatcher);
    assert.equal(store.mark(Watermark.indexed), 0);
    runToRest(dispatcher);
    assert.equal(new SharedIndex(store.memory.state).read().header.next, 4);
    store.close();
  });

  it('catches up in turn with the dispatcher, never beyond it', () => {
    const store = new Indexed(new MemoryFiles(1 << 26));
    const without = store.dispatcher();
    store.send(60);
    store.send(60);
    runToRest(without);
    const dispatcher = store.dispatching({ inBackground: true });
    store.send(60);
    let [turns, together] = [0, 0];
    while (store.mark(Watermark.indexed) < store.mark(Watermark.appended)) {
      const before = [store.mark(Watermark.indexed), store.mark(Watermark.dispatched)];
      dispatcher.step();
      const after = [store.mark(Watermark.indexed), store.mark(Watermark.dispatched)];
      assert.ok(after[0] <= after[1]);
      if (after[0] > before[0] && after[1] > before[1]) together++;
      assert.ok(++turns < 100);
    }
    assert.ok(turns > 1 && together > 0, `${turns} turns, ${together} with both`);
    for (let key = 0; key < 180; key++) assert.ok(store.has(`k${key}`), `k${key}`);
    store.close();
  });

  it('does not look for what retention has deleted', () => {
    const store = new Indexed(new MemoryFiles(1 << 26));
    const without = store.dispatcher();
    store.send(60);
    store.send(60);
    runToRest(without);
    store.log.files.remove(`${store.log.dir}/${'0'.repeat(20)}`);
    store.watermarks.reset(Watermark.logMin, 8192);
    runToRest(store.dispatching({ inBackground: true }));
    assert.equal(store.mark(Watermark.indexed), store.mark(Watermark.appended));
    assert.deepEqual([store.has('k0'), store.has('k119')], [false, true]);
    store.close();
  });

  it('passes over what is damaged, as the dispatcher does', () => {
    const store = new Indexed(new MemoryFiles(1 << 26));
    const without = store.dispatcher();
    store.send(60);
    store.send(60);
    runToRest(without);
    const segment = store.log.files.open(`${store.log.dir}/${'0'.repeat(20)}`, 'readWrite');
    segment.write(Buffer.alloc(100), 0, 100, 0);
    segment.close();
    runToRest(store.dispatching({ inBackground: true }));
    assert.equal(store.mark(Watermark.indexed), store.mark(Watermark.appended));
    assert.ok(store.has('k119'));
    store.close();
  });
});

describe('indexer and the checkpoint', () => {
  it('writes back once an interval, and lets the queue time wait for it', async () => {
    const store = new Indexed(new MemoryFiles(1 << 26));
    const dispatcher = store.dispatching();
    const first = store.clock.wallMs();
    store.send(1);
    store.clock.advance(2000);
    runToRest(dispatcher);
    assert.deepEqual([store.checkpoint().logicsMsgTimestamp, store.checkpoint().indexMsgTimestamp], [0, 0]);
    store.clock.advance(58_000);
    runToRest(dispatcher);
    assert.deepEqual([store.checkpoint().logicsMsgTimestamp, store.checkpoint().indexMsgTimestamp], [first, first]);
    const second = store.clock.wallMs();
    store.send(1);
    store.clock.advance(2000);
    runToRest(dispatcher);
    assert.equal(store.checkpoint().logicsMsgTimestamp, first);
    await dispatcher.calls.syncNow();
    assert.deepEqual([store.checkpoint().logicsMsgTimestamp, store.checkpoint().indexMsgTimestamp], [second, second]);
    store.close();
  });

  it('does not let the queue time wait for messages without keys, nor for what is built in the background', () => {
    for (const inBackground of [true, false]) {
      const store = new Indexed(new MemoryFiles(1 << 26));
      const dispatcher = store.dispatching({ inBackground });
      store.put(inBackground ? { properties: 'KEYS\u0001k\u0002' } : {});
      store.append(store.appending);
      const stored = store.clock.wallMs();
      if (inBackground) dispatcher.step();
      store.clock.advance(1000);
      runToRest(dispatcher);
      assert.equal(store.checkpoint().logicsMsgTimestamp, stored);
      store.close();
    }
  });

  it('says at the end when a sync failed', async () => {
    const disk = new LossyFiles();
    const store = new Indexed(disk);
    const dispatcher = store.dispatching();
    store.send(1);
    runToRest(dispatcher);
    disk.fail({ operation: 'sync', path: dir, code: 'EIO' });
    await assert.rejects(dispatcher.calls.syncNow(), { code: 'INDEX_NOT_SYNCED' });
    await assert.rejects(dispatcher.calls.syncNow(), { code: 'INDEX_NOT_SYNCED' });
    // Retention goes by the queues alone: an index on a full disk must not keep old files from making room.
    await dispatcher.calls.syncQueues();
    assert.equal(store.checkpoint().indexMsgTimestamp, 0);
    store.send(1);
    runToRest(dispatcher);
    assert.ok(store.has('k0'));
    store.close();
  });

  it('leaves the file alone while the checkpoint cannot be lowered', () => {
    const disk = new LossyFiles();
    const store = new Indexed(disk);
    const dispatcher = store.dispatching();
    store.send(1);
    runToRest(dispatcher);
    disk.fail({ operation: 'create', path: 'checkpoint', code: 'ENOSPC', forever: true });
    store.clock.advance(10_000);
    runToRest(dispatcher);
    const name = disk.list(dir)[0] ?? '';
    assert.ok(
      disk
        .readAll(`${dir}/${name}`)
        .subarray(0, 40)
        .every((byte) => byte === 0),
    );
    assert.ok(store.has('k0'));
    store.close();
  });
});

describe('indexer after a death of its thread', () => {
  it('goes on where the one before it was', () => {
    const store = new Indexed(new MemoryFiles(1 << 26));
    store.send(10);
    runToRest(store.dispatching());
    store.send(10);
    runToRest(store.dispatching());
    for (let key = 0; key < 20; key++) assert.ok(store.has(`k${key}`), `k${key}`);
    assert.equal(new SharedIndex(store.memory.state).read().header.next, 21);
    store.close();
  });
});
