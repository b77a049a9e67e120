import assert from 'node:assert/strict';
import {
  damagedLog,
  goodBytesFrom,
  judgeEnd,
  recordBehind,
  StoreTimes,
  type Verdict,
} from '../../../store/commitlog/damage.js';
import { recoverLog } from '../../../store/commitlog/recovery.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { LogBuilder } from '../../support/log-builder.js';

const SIZE = 4096;
const T = 1_700_000_000_000;

/** Thirty records of 500 bytes over five segments, stored a second apart. */
function thirty(): { segments: Segments; log: LogBuilder } {
  const segments = new Segments(new MemoryFiles(1 << 26), '/s/commitlog', '/s/.tmp', SIZE);
  segments.open();
  const log = new LogBuilder(segments);
  for (let index = 0; index < 30; index += 1)
    log.append({ body: Buffer.alloc(500, index + 1), storeTimestamp: T + index * 1000 });
  return { segments, log };
}

function poke(segments: Segments, offset: number, bytes: Buffer): void {
  const view = segments.fileAt(offset, 'readWrite')!;
  view.file.write(bytes, 0, bytes.length, offset - view.base);
}

interface Known {
  readonly normalExit?: boolean;
  readonly syncedMs?: number;
  readonly queuedEnd?: number;
}

function judge(segments: Segments, known: Known): Verdict {
  const times = new StoreTimes();
  const walk = recoverLog({
    segments,
    fromOffset: 0,
    checkCrc: true,
    onRecord: (buffer, offset) => times.visit(buffer, offset),
  });
  const { normalExit = false, syncedMs = 0, queuedEnd = -1 } = known;
  return judgeEnd({ log: segments, walk, times, normalExit, syncedMs, queuedEnd: () => queuedEnd });
}

describe('the end of a log', () => {
  it('is clean when only zeros follow', () => {
    const { segments } = thirty();
    assert.deepEqual(judge(segments, { syncedMs: T + 29_000 }), { kind: 'clean' });
    assert.deepEqual(judge(segments, { normalExit: true, syncedMs: T + 29_000 }), { kind: 'clean' });
  });

  it('finds the next whole record behind a place, wherever its bytes fall', () => {
    const { segments, log } = thirty();
    for (const [index, { physicalOffset }] of log.placed.entries()) {
      const next = log.placed[index + 1];
      const found = recordBehind(segments, physicalOffset);
      assert.deepEqual(found, next && { position: next.physicalOffset, storedMs: T + (index + 1) * 1000 });
    }
    assert.equal(recordBehind(segments, 0, log.placed[1]!.physicalOffset), undefined);
    const [, second, third] = log.placed;
    poke(segments, second!.physicalOffset + 200, Buffer.from([0]));
    assert.equal(recordBehind(segments, 0)?.position, third!.physicalOffset, 'one with a wrong checksum is none');
    assert.deepEqual(goodBytesFrom(segments, third!.physicalOffset).records, 28);
  });

  for (const [what, bytes] of [
    ['a changed bit', Buffer.from([0xff])],
    ['a page of zeros', Buffer.alloc(600)],
  ] as const)
    it(`is damaged by ${what} before records that were synced, torn before others`, () => {
      const { segments, log } = thirty();
      const victim = log.placed[20]!;
      poke(segments, victim.physicalOffset + (bytes.length === 1 ? 300 : 0), bytes);
      const verdict = judge(segments, { syncedMs: T + 25_000 });
      assert.equal(verdict.kind, 'damaged');
      assert.ok(verdict.following !== undefined);
      const text = damagedLog(segments, verdict).line();
      const file = String(victim.physicalOffset - (victim.physicalOffset % SIZE)).padStart(20, '0');
      assert.match(text, new RegExp(`${file} at ${victim.physicalOffset % SIZE}: .*in \\d+ whole records follow`));
      assert.equal(judge(segments, { normalExit: true }).kind, 'damaged');
      // The record before the damage is the last one that was synced.
      assert.equal(judge(segments, { syncedMs: T + 19_000 }).kind, 'torn');
      assert.equal(judge(segments, {}).kind, 'torn');
    });

  it('is torn behind the last synced record, although the next ones were stored in the same millisecond', () => {
    const { segments, log } = thirty();
    const again = new LogBuilder(segments, log.placed[20]!.physicalOffset);
    for (let index = 0; index < 12; index += 1)
      again.append({ body: Buffer.alloc(500, 99), storeTimestamp: T + 60_000 });
    poke(segments, again.placed[1]!.physicalOffset, Buffer.alloc(600));
    assert.equal(judge(segments, { syncedMs: T + 60_000 }).kind, 'torn');
    assert.equal(judge(segments, { syncedMs: T + 60_001 }).kind, 'damaged');
  });

  it('is torn where older records lie behind it, as 4.9 leaves them when it cuts', () => {
    const { segments, log } = thirty();
    const again = new LogBuilder(segments, log.placed[20]!.physicalOffset);
    for (let index = 0; index < 3; index += 1)
      again.append({ body: Buffer.alloc(480, 99), storeTimestamp: T + 60_000 + index });
    assert.equal(judge(segments, { normalExit: true, syncedMs: T + 60_002 }).kind, 'torn');
  });

  it('is damaged in its last record when a queue has the unit of it', () => {
    const { segments, log } = thirty();
    const last = log.placed[29]!;
    poke(segments, last.physicalOffset + 300, Buffer.from([0xff]));
    assert.equal(judge(segments, { normalExit: true, queuedEnd: last.physicalOffset }).kind, 'torn');
    const verdict = judge(segments, { normalExit: true, queuedEnd: log.position });
    assert.equal(verdict.kind, 'damaged');
    assert.ok(verdict.kind === 'damaged');
    assert.match(damagedLog(segments, verdict).message, /the queues have records there/);
    poke(segments, last.physicalOffset, Buffer.alloc(last.size));
    assert.equal(judge(segments, { normalExit: true, syncedMs: T + 29_000, queuedEnd: log.position }).kind, 'damaged');
  });

  it('is damaged, not foreign, when the first bytes of a segment rot', () => {
    const { segments } = thirty();
    poke(segments, 2 * SIZE, Buffer.from('rotten!!'));
    assert.equal(judge(segments, { normalExit: true }).kind, 'damaged');
    segments.dropFrom(3 * SIZE);
    poke(segments, 2 * SIZE, Buffer.alloc(SIZE, 'rotten!!'));
    assert.throws(() => judge(segments, {}), { code: 'STORE_FOREIGN' });
    // What a power cut leaves of a first record: some sectors of it.
    poke(segments, 2 * SIZE, Buffer.alloc(512));
    assert.equal(judge(segments, {}).kind, 'clean');
  });
});
