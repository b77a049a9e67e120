import assert from 'node:assert/strict';
import { markEnded, markRunning, writeCheckpoint } from '../../store/checkpoint/checkpoint.js';
import { recoverLog } from '../../store/commitlog/recovery.js';
import { Segments } from '../../store/commitlog/segments.js';
import { readExtUnit, unitExtOffset } from '../../store/consumequeue/ext-unit.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { isRecordUnit, unitPhysicalOffset, unitSize } from '../../store/consumequeue/unit.js';
import { DispatchFields, readDispatch } from '../../store/dispatch/read-dispatch.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { storePaths } from '../../store/files/paths.js';
import { recoverStore } from '../../store/recovery.js';
import { dispatchLog } from '../support/dispatch-log.js';
import { LogBuilder, type Placed } from '../support/log-builder.js';
import { LossyFiles, PowerCut } from '../support/lossy-files.js';
import type { Loss } from '../support/lossy-inode.js';
import { SeededRandom } from '../support/seeded-random.js';

const paths = storePaths('/s');
const T0 = 1_700_000_000_000;
const segmentsOf = (files: StoreFiles): Segments => new Segments(files, paths.commitLog, paths.temporary, 8192);
const queuesOf = (files: StoreFiles, ext: ExtSetting): QueueFiles =>
  new QueueFiles({
    files,
    dir: paths.consumeQueue,
    temporaryDir: paths.temporary,
    fileBytes: 400,
    openMax: 4,
    mode: 'readWrite',
    ext: { dir: paths.consumeQueueExt, ...ext },
  });

interface ExtSetting {
  readonly enabled: boolean;
  readonly fileBytes: number;
}

/** What must be true after the cut, kept outside of the disk. */
class Ledger {
  /** Written, by physical offset; a later run may write others in the place of lost ones. */
  readonly written = new Map<number, Placed & { body: Buffer }>();
  /** End of what was synced, thus acknowledged under SYNC_FLUSH. */
  synced = 0;
  timeMs = T0;

  /** `stepMs`: messages come less than so much apart; the larger, the less a start dispatches again. */
  constructor(
    readonly ext: ExtSetting = { enabled: false, fileBytes: 128 },
    readonly stepMs = 900,
  ) {}
}

/** One broker's life: recovers, checks, writes, syncs, dispatches, until the power is cut or it ends by itself. */
function run(files: LossyFiles, ledger: Ledger, random: SeededRandom, messages: number, endWell: boolean): void {
  const segments = segmentsOf(files);
  const queues = queuesOf(files, ledger.ext);
  const recovered = recoverStore({ files, paths, segments, queues, nowMs: ledger.timeMs, checkCrc: true });
  if (ledger.ext.enabled) checkExt(segments, queues, false);
  check(files, segments, queues, ledger, recovered.validEnd, recovered.dispatchFrom);
  if (ledger.ext.enabled) checkExt(segments, queues, true);
  for (const offset of [...ledger.written.keys()]) if (offset >= recovered.validEnd) ledger.written.delete(offset);
  ledger.synced = recovered.validEnd;
  markRunning(files, paths.abort);
  let body = Buffer.alloc(0);
  const log = new LogBuilder(segments, recovered.validEnd, (placed) => {
    ledger.written.set(placed.physicalOffset, { ...placed, body });
  });
  for (const queue of recovered.queues) log.setNext(queue.topic, queue.queueId, queue.nextOffset);
  let dispatched = recovered.dispatchFrom;
  for (let index = 0; index < messages; index += 1) {
    ledger.timeMs += random.below(ledger.stepMs);
    body = Buffer.alloc(random.below(900), random.below(256));
    const topic = random.chance(0.3) ? 'U' : 'T';
    const properties = random.chance(0.5) ? '' : `TAGS\u0001tag${random.below(1000)}\u0002`;
    log.append({ topic, queueId: random.below(3), body, properties, storeTimestamp: ledger.timeMs });
    if (random.chance(0.2)) syncLog(segments, ledger, log.position);
    if (random.chance(0.3)) dispatched = dispatchLog(segments, queues, dispatched, { group: 1 + random.below(5) });
    if (random.chance(0.1)) syncQueues(files, segments, queues, ledger, dispatched);
  }
  if (!endWell) return;
  dispatched = dispatchLog(segments, queues, dispatched, { group: 1 + random.below(5) });
  syncLog(segments, ledger, log.position);
  syncQueues(files, segments, queues, ledger, dispatched);
  markEnded(files, paths.abort);
}

/** Segments in order, as the flush worker does. */
function syncLog(segments: Segments, ledger: Ledger, end: number): void {
  for (const base of segments.bases()) {
    if (base + segments.segmentBytes > ledger.synced && base < end) segments.fileAt(base, 'readWrite')?.file.sync();
  }
  ledger.synced = end;
}

function syncQueues(
  files: LossyFiles,
  segments: Segments,
  queues: QueueFiles,
  ledger: Ledger,
  dispatched: number,
): void {
  const before = (end: number): number =>
    Math.max(
      0,
      ...[...ledger.written.values()]
        .filter((p) => p.physicalOffset < end)
        .map((p) => timeOf(segments, p.physicalOffset)),
    );
  const checkpoint = {
    physicMsgTimestamp: before(ledger.synced),
    logicsMsgTimestamp: before(dispatched),
    indexMsgTimestamp: 0,
  };
  queues.syncDirty();
  writeCheckpoint(files, paths.checkpoint, checkpoint);
}

function timeOf(segments: Segments, physicalOffset: number): number {
  const time = Buffer.alloc(8);
  segments.read(time, 0, 8, physicalOffset + 56);
  return Number(time.readBigInt64BE(0));
}

function check(
  files: LossyFiles,
  segments: Segments,
  queues: QueueFiles,
  ledger: Ledger,
  validEnd: number,
  from: number,
): void {
  assert.ok(validEnd >= ledger.synced, `lost: the log ends at ${validEnd}, synced were ${ledger.synced}`);
  const found = new Set<number>();
  const end = recoverLog({
    segments,
    fromOffset: segments.minOffset,
    checkCrc: true,
    onRecord(buffer, offset, size, physicalOffset) {
      const sent = ledger.written.get(physicalOffset);
      assert.ok(sent !== undefined && sent.size === size, `invented: a record at ${physicalOffset}`);
      assert.ok(
        buffer.subarray(offset + 88, offset + 88 + sent.body.length).equals(sent.body),
        `changed: ${physicalOffset}`,
      );
      found.add(physicalOffset);
    },
  });
  assert.equal(end.validEnd, validEnd);
  for (const offset of ledger.written.keys())
    assert.ok(offset >= validEnd || found.has(offset), `hole: ${offset} is missing`);
  const rest = Buffer.alloc(Math.max(0, segments.endOffset - validEnd));
  segments.read(rest, 0, rest.length, validEnd);
  assert.ok(
    rest.every((byte) => byte === 0),
    'stale bytes behind the end',
  );
  assert.deepEqual(files.list(paths.temporary), []);
  // What the next run would dispatch, on a copy of nothing: units are placed by offset, so doing it here changes nothing.
  dispatchLog(segments, queues, from);
  for (const sent of ledger.written.values()) {
    if (sent.physicalOffset >= validEnd) continue;
    const unit = queues.read(sent.topic, sent.queueId, sent.queueOffset, 1);
    assert.equal(unit.length, 20, `unit of ${sent.physicalOffset}`);
    assert.deepEqual([unitPhysicalOffset(unit, 0), unitSize(unit, 0)], [sent.physicalOffset, sent.size]);
  }
  checkQueueEnds(queues, ledger, validEnd);
}

function checkQueueEnds(queues: QueueFiles, ledger: Ledger, validEnd: number): void {
  const next = new Map<string, number>();
  for (const { topic, queueId, queueOffset, physicalOffset } of ledger.written.values()) {
    if (physicalOffset < validEnd)
      next.set(`${topic}/${queueId}`, Math.max(queueOffset + 1, next.get(`${topic}/${queueId}`) ?? 0));
  }
  for (const { topic, queueId } of queues.list().queues) {
    assert.equal(
      queues.bounds(topic, queueId).maxOffset,
      next.get(`${topic}/${queueId}`) ?? 0,
      `end of ${topic}/${queueId}`,
    );
  }
}

/**
 * Each unit points to an ext unit of its own record. Once all is dispatched the ext files have the bytes of a store that never
 * crashed: the units one behind the other from 0 on, each file ending where the next unit did not fit, zeros behind the end.
 */
function checkExt(segments: Segments, queues: QueueFiles, complete: boolean): void {
  const { ext } = queues;
  assert.ok(ext !== undefined);
  for (const { topic, queueId } of queues.list().queues) {
    let end = 0;
    for (let offset = 0; ; offset += 1) {
      const unit = queues.read(topic, queueId, offset, 1);
      if (unit.length === 0 || !isRecordUnit(unit, 0)) break;
      const name = `ext unit of ${topic}/${queueId} ${offset}`;
      if (ext.fileBytes - (end % ext.fileBytes) < 24) end += ext.fileBytes - (end % ext.fileBytes);
      assert.equal(unitExtOffset(unit, 0), end, name);
      const bytes = Buffer.alloc(20);
      assert.equal(ext.read(topic, queueId, end, bytes, 20), 20, name);
      const record = Buffer.alloc(unitSize(unit, 0));
      segments.read(record, 0, record.length, unitPhysicalOffset(unit, 0));
      const fields = new DispatchFields([]);
      assert.equal(readDispatch(record, 0, unitPhysicalOffset(unit, 0), fields), undefined, name);
      const found = readExtUnit(bytes, 0);
      const tagsCode = (BigInt(fields.tagsHigh) << 32n) | BigInt(fields.tagsLow >>> 0);
      assert.deepEqual([found?.storeTimestamp, found?.tagsCode], [fields.storeTimestamp, tagsCode], name);
      end += 20;
    }
    if (complete) assertNothingBehind(queues, topic, queueId, end);
  }
}

function assertNothingBehind(queues: QueueFiles, topic: string, queueId: number, end: number): void {
  const { ext } = queues;
  for (const base of ext?.bases(topic, queueId) ?? []) {
    assert.ok(base < end, `a file at ${base} behind the end ${end} of ${topic}/${queueId}`);
    const rest = Buffer.alloc(ext?.fileBytes ?? 0);
    if (base + rest.length < end) continue;
    const length = ext?.read(topic, queueId, end, rest, rest.length) ?? 0;
    assert.ok(
      rest.subarray(0, length).every((byte) => byte === 0),
      `stale bytes behind the end ${end} of ${topic}/${queueId}`,
    );
  }
}

/** Several lives of one disk; the power is cut in each but the last. */
function survive(
  seed: number,
  cut: (life: number, files: LossyFiles) => void,
  loss: Loss,
  lives: number,
  ext?: ExtSetting,
): void {
  const random = new SeededRandom(seed);
  const ledger = new Ledger(ext, ext === undefined ? 900 : 6000);
  let files = new LossyFiles(random);
  try {
    for (let life = 0; life < lives; life += 1) {
      cut(life, files);
      try {
        run(files, ledger, random, 30, random.chance(0.3));
      } catch (error) {
        if (!(error instanceof PowerCut)) throw error;
      }
      files = random.chance(0.3) ? files.killed() : files.restart(loss);
    }
    run(files, ledger, random, 5, true);
    run(files, ledger, random, 0, true);
  } catch (error) {
    throw new Error(`seed ${seed}, lost: ${loss}`, { cause: error });
  }
}

describe('ext units on a disk that loses power', () => {
  for (const fileBytes of [128, 2048]) {
    it(`keeps ext units with the units that point to them, in files of ${fileBytes} bytes (100 seeds)`, function () {
      this.timeout(60_000);
      for (let seed = 1; seed <= 100; seed += 1) {
        const random = new SeededRandom(seed * 104_729);
        survive(seed, (_life, files) => files.cutAt(60 + random.below(180)), 'random', 5, { enabled: true, fileBytes });
      }
    });
  }

  it('keeps them at a cut at each operation of a life that follows a crash', function () {
    this.timeout(60_000);
    for (const loss of ['random', 'everything'] as const)
      for (let operation = 1; operation <= 160; operation += 1)
        survive(4711, (life, files) => files.cutAt(life === 0 ? 160 : operation), loss, 2, {
          enabled: true,
          fileBytes: 128,
        });
  });
});
