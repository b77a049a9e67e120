import assert from 'node:assert/strict';
import { viewOf } from '../../../protocol/copy.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { QueueFiles } from '../../../store/consumequeue/queue-files.js';
import { UNIT_BYTES, writeUnit } from '../../../store/consumequeue/unit.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { segmentName, storePaths } from '../../../store/files/paths.js';
import type { VerifyReport } from '../../../store/verify/contract.js';
import { verifyStore } from '../../../store/verify/verify.js';
import { dispatchLog } from '../../support/dispatch-log.js';
import { LogBuilder } from '../../support/log-builder.js';

const paths = storePaths('/s');

class Scene {
  readonly files = new MemoryFiles(1 << 28);
  readonly segments = new Segments(this.files, paths.commitLog, paths.temporary, 65_536);
  readonly queues = new QueueFiles({
    files: this.files,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: 2000,
    openMax: 8,
    mode: 'readWrite',
  });
  readonly log: LogBuilder;
  #dispatched = 0;

  constructor() {
    this.segments.open();
    this.log = new LogBuilder(this.segments);
  }

  append(topic: string, count: number): void {
    for (let index = 0; index < count; index += 1)
      this.log.append({ topic, queueId: index % 2, body: Buffer.alloc(50, 1) });
  }

  dispatch(): void {
    this.#dispatched = dispatchLog(this.segments, this.queues, this.#dispatched);
  }

  verify(): VerifyReport {
    return verifyStore({ files: this.files, paths, all: true, nowMs: 2 ** 42 });
  }

  damages(): string[] {
    return this.verify().findings.flatMap(({ kind, what }) => (kind === 'damage' ? [what] : []));
  }
}

describe('verifying queues', () => {
  it('reads queues of many files and a log of many records', () => {
    const scene = new Scene();
    scene.append('A', 1000);
    scene.append('B', 500);
    scene.append('A', 1000);
    scene.dispatch();
    assert.deepEqual(scene.damages(), []);
    assert.deepEqual([scene.verify().units, scene.verify().queues], [2500, 4]);
  });

  it('takes the records of a topic that was deleted and made anew for normal, however many there are now', () => {
    for (const again of [10, 300]) {
      const scene = new Scene();
      scene.append('A', 100);
      scene.append('B', 100);
      scene.dispatch();
      scene.queues.remove('A');
      scene.log.setNext('A', 0, 0);
      scene.log.setNext('A', 1, 0);
      scene.append('A', again);
      scene.append('B', 10);
      scene.dispatch();
      assert.deepEqual(scene.damages(), []);
      assert.equal(scene.verify().units, 110 + again);
    }
  });

  it('takes a queue that begins in the middle, with blank units before, for normal', () => {
    const scene = new Scene();
    scene.log.setNext('A', 0, 37);
    scene.append('A', 20);
    scene.dispatch();
    assert.deepEqual(scene.damages(), []);
  });

  it('finds a unit that stands before an older one', () => {
    const scene = new Scene();
    scene.append('A', 20);
    scene.dispatch();
    const first = scene.queues.read('A', 0, 3, 1);
    const second = scene.queues.read('A', 0, 4, 1);
    const file = scene.files.open(`/s/consumequeue/A/0/${segmentName(0)}`, 'readWrite');
    file.write(second, 0, UNIT_BYTES, 3 * UNIT_BYTES);
    file.write(first, 0, UNIT_BYTES, 4 * UNIT_BYTES);
    const found = scene.verify().findings.filter(({ kind }) => kind === 'damage');
    assert.deepEqual(
      found.map(({ position }) => position),
      [3 * UNIT_BYTES, 4 * UNIT_BYTES],
    );
    assert.match(found[0]!.what, /unit 3 of A\/0: it points to \d+, where the record of A\/0 offset 4 lies/);
  });

  it('finds a unit of nobody between others and one behind the last', () => {
    const scene = new Scene();
    scene.append('A', 20);
    scene.dispatch();
    const unit = Buffer.alloc(UNIT_BYTES);
    writeUnit(viewOf(unit), 0, 12, 100, 0, 0);
    scene.queues.write('A', 0, 10, unit, UNIT_BYTES);
    assert.match(scene.damages().join(), /unit 10 of A\/0: it points to 12, where no record lies/);
  });

  it('keeps a bounded number of findings', () => {
    const scene = new Scene();
    scene.append('A', 5000);
    scene.dispatch();
    for (const base of scene.queues.bases('A', 0)) {
      const file = scene.files.open(`/s/consumequeue/A/0/${segmentName(base)}`, 'readWrite');
      for (let at = 0; at < 2000; at += UNIT_BYTES) file.write(Buffer.from([0xff]), 0, 1, at + 11);
    }
    const report = scene.verify();
    assert.equal(report.findings.length, 1000);
    assert.ok(report.more >= 1000);
  });
});
