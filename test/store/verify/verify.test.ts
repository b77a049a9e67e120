import assert from 'node:assert/strict';
import { writeCheckpoint } from '../../../store/checkpoint/checkpoint.js';
import type { MemoryFiles } from '../../../store/files/memory-files.js';
import { segmentName } from '../../../store/files/paths.js';
import { verifyStore } from '../../../store/verify/verify.js';
import {
  assertFirst,
  damages,
  flip,
  golden,
  INDEX,
  INDEX_ENTRIES_AT,
  int32,
  int64,
  java,
  notes,
  NOW,
  paths,
  places,
  poke,
  SEGMENT,
  unitPlace,
  verify,
  victim,
} from './golden-damage.js';

describe('verifying a store of RocketMQ 4.9.7', () => {
  it('finds nothing wrong with one that ended well, and counts what is in it', () => {
    const { findings, damaged, complete, ...counts } = verify(java());
    assert.deepEqual([findings, damaged, complete], [[], false, true]);
    assert.deepEqual(counts, {
      more: 0,
      normalExit: true,
      segmentBytes: SEGMENT,
      segments: 3,
      minOffset: 0,
      validEnd: golden.state.maxPhysical,
      newestMs: counts.newestMs,
      records: 29,
      queues: golden.state.queues.filter(({ lastPhysical }) => lastPhysical >= 0).length,
      units: places.filter(({ isQueued }) => isQueued).length,
      recordsWithoutQueue: 0,
      indexFiles: 1,
      indexEntries: counts.indexEntries,
      configFiles: 1,
    });
    assert.ok(counts.indexEntries > 20);
  });

  it('takes messages that are gone with old files for normal', () => {
    const files = java();
    files.remove(`/s/commitlog/${segmentName(0)}`);
    const report = verify(files);
    assert.deepEqual(report.findings, []);
    assert.equal(report.minOffset, SEGMENT);
  });

  it('takes the records of deleted topics for normal, also when the topic was made anew', () => {
    const files = java();
    files.removeTree('/s/consumequeue/OddProps');
    const report = verify(files);
    assert.deepEqual([report.findings, report.recordsWithoutQueue], [[], 1]);
  });
});

describe('verifying finds, with file and position,', () => {
  it('a bit flip in a body', () => {
    const files = java();
    flip(files, victim.file, victim.at + 95);
    const all = assertFirst(files, {
      file: victim.file,
      position: victim.at,
      says: /body checksum is .* bytes are unreadable/,
    });
    assert.equal(damages(all).length, 1, 'its unit and its index entries are no damage of their own');
  });

  it('a bit flip in a head: size, magic, physical offset', () => {
    for (const at of [2, 5, 35]) {
      const files = java();
      flip(files, victim.file, victim.at + at);
      assertFirst(files, { file: victim.file, position: victim.at, says: /unreadable/ });
    }
  });

  it('a bit flip in what no checksum covers: queue offset, queue, topic', () => {
    for (const at of [27, 15, victim.topicAt - victim.at]) {
      const files = java();
      flip(files, victim.file, victim.at + at);
      const said = new RegExp(`points to ${victim.physical}, where the record of `);
      assertFirst(files, { ...unitPlace(victim), says: said });
    }
  });

  it('swapped pages and a page of zeros', () => {
    const swapped = java();
    const bytes = swapped.readAll(victim.file);
    poke(swapped, victim.file, 1024, bytes.subarray(2048, 3072));
    poke(swapped, victim.file, 2048, bytes.subarray(1024, 2048));
    const torn = places.filter(({ file, at, size }) => file === victim.file && at + size > 1024);
    assertFirst(swapped, { file: victim.file, position: torn[0]!.at, says: /unreadable/ });
    const zeros = java();
    const first = places.find(({ file, at }) => file === victim.file && at > 0)!;
    poke(zeros, first.file, first.at, Buffer.alloc(first.size + 50));
    assertFirst(zeros, { file: first.file, position: first.at, says: /zeros where a record should begin/ });
  });

  it('zeros at the end of a segment that another one follows', () => {
    const files = java();
    const last = places.filter(({ file }) => file.endsWith(segmentName(SEGMENT))).at(-1)!;
    poke(files, last.file, last.at, Buffer.alloc(SEGMENT - last.at));
    assertFirst(files, { file: last.file, position: last.at, says: /zeros where .* unreadable/ });
  });

  it('a truncated and a missing segment', () => {
    const middle = `/s/commitlog/${segmentName(SEGMENT)}`;
    const cut = java();
    cut.open(middle, 'readWrite').truncate(3000);
    assertFirst(cut, { file: middle, position: 3000, says: /has 3000 bytes instead of 4096/ });
    const missing = java();
    missing.remove(middle);
    const all = assertFirst(missing, { file: middle, says: /missing, up to 0*8192/ });
    assert.deepEqual(damages(all).length, 1, 'units of the missing file are no damage of their own');
    const first = java();
    first.open(`/s/commitlog/${segmentName(0)}`, 'readWrite').truncate(SEGMENT - 1);
    assertFirst(first, { file: `/s/commitlog/${segmentName(0)}`, position: SEGMENT - 1, says: /instead of 4096/ });
  });

  it('a unit that points elsewhere, says another size, has another tags code', () => {
    const { file, position } = unitPlace(victim);
    const other = places.find(({ topic }) => topic === 'OddProps')!;
    const elsewhere = java();
    poke(elsewhere, file, position, int64(other.physical));
    const said = /unit 5 of GoldenTopic\/0: it points to \d+, where the record of OddProps\/0 offset 0 lies/;
    assert.equal(damages(assertFirst(elsewhere, { file, position, says: said })).length, 1);
    const nowhere = java();
    poke(nowhere, file, position, int64(victim.physical + 1));
    assertFirst(nowhere, { file, position, says: /where no record lies/ });
    const size = java();
    flip(size, file, position + 11);
    assertFirst(size, { file, position, says: /it says \d+ bytes, its record has/ });
    const tags = java();
    flip(tags, file, position + 19);
    assertFirst(tags, { file, position, says: /tags code/ });
  });

  it('a hole in a queue, a unit that is missing at its end, a queue file that is short', () => {
    const { file, position } = unitPlace(victim);
    const hole = java();
    poke(hole, file, position, Buffer.alloc(20));
    assertFirst(hole, { file, position, says: /unit 5 of GoldenTopic\/0: a hole/ });
    const last = unitPlace(
      places.filter(({ topic, queueId, isQueued }) => topic === 'GoldenTopic' && queueId === 1 && isQueued).at(-1)!,
    );
    const end = java();
    poke(end, last.file, last.position, Buffer.alloc(20));
    assertFirst(end, { ...last, says: /the record at \d+ has no unit: it was never written/ });
    const short = java();
    short.open(file, 'readWrite').truncate(199);
    assertFirst(short, { file, position: 199, says: /199 bytes instead of 200/ });
  });

  it('a unit behind the end of the log', () => {
    const files = java();
    const { file } = unitPlace(places.find(({ topic }) => topic === 'OddProps')!);
    poke(files, file, 20, Buffer.concat([int64(3 * SEGMENT), int32(100), int64(0)]));
    assertFirst(files, { file, position: 20, says: /behind the log's end/ });
  });

  it('a short checkpoint, a broken file of settings', () => {
    const short = java();
    short.replace(paths.checkpoint, Buffer.alloc(10), false);
    assertFirst(short, { file: paths.checkpoint, position: 10, says: /10 bytes instead of 4096/ });
    const odd = java();
    poke(odd, paths.checkpoint, 8, Buffer.alloc(8, 0xff));
    assertFirst(odd, { file: paths.checkpoint, position: 8, says: /time for the queues is -1/ });
    const broken = java();
    broken.replace('/s/config/consumerOffset.json', '{"offsetTable":{', false);
    const all = assertFirst(broken, {
      file: '/s/config/consumerOffset.json',
      position: 16,
      says: /of its backup: missing/,
    });
    assert.equal(all.configFiles, 2);
    broken.replace('/s/config/consumerOffset.json.bak', '{}', false);
    const report = verify(broken);
    assert.equal(report.damaged, false);
    assert.match(report.findings[0]!.todo, /reads its backup/);
  });

  it('several damages, each once', () => {
    const files = java();
    flip(files, victim.file, victim.at + 95);
    const later = places.at(-3)!;
    flip(files, later.file, later.at + 5);
    poke(files, INDEX, INDEX_ENTRIES_AT + 9 * 20 + 16, int32(9));
    assert.deepEqual(
      verify(files).findings.map(({ file, position }) => [file, position]),
      [
        [victim.file, victim.at],
        [later.file, later.at],
        [INDEX, INDEX_ENTRIES_AT + 9 * 20 + 16],
      ],
    );
  });
});

describe('verifying a store whose broker was killed', () => {
  /** Killed while its last record was written, three units not dispatched yet. */
  function killed(): MemoryFiles {
    const files = java();
    files.replace(paths.abort, '', false);
    return files;
  }

  it('takes a torn end for no damage', () => {
    const files = killed();
    const last = places.at(-1)!;
    poke(files, last.file, last.at + 60, Buffer.alloc(last.size - 60));
    const report = verify(files);
    assert.equal(report.damaged, false);
    assert.equal(report.validEnd, last.physical);
    assert.match(notes(report).join('\n'), /the torn end that a crash leaves/);
    assert.match(notes(report).join('\n'), /1 queues have units behind the log's end/, 'the unit of the torn record');
    assert.deepEqual(report.findings.find(({ what }) => /torn/.test(what))?.position, last.at);
  });

  it('takes units that are not there yet for no damage', () => {
    const files = killed();
    writeCheckpoint(files, paths.checkpoint, { physicMsgTimestamp: 1, logicsMsgTimestamp: 1, indexMsgTimestamp: 1 });
    const { file, position } = unitPlace(places.find(({ topic }) => topic === 'OddProps')!);
    poke(files, file, position, Buffer.alloc(20));
    const report = verify(files);
    assert.equal(report.damaged, false, damages(report).join('\n'));
    assert.match(notes(report).join('\n'), /1 records have no unit yet/);
    assert.match(notes(report).join('\n'), /not looked at: it ends after the checkpoint/);
  });

  /** All that is in the log was synced before the kill. */
  function synced(): MemoryFiles {
    const files = killed();
    const newest = verify(files).newestMs;
    writeCheckpoint(files, paths.checkpoint, {
      physicMsgTimestamp: newest,
      logicsMsgTimestamp: newest,
      indexMsgTimestamp: newest,
    });
    return files;
  }

  it('finds damage among what was synced all the same', () => {
    const files = synced();
    flip(files, victim.file, victim.at + 95);
    assertFirst(files, { file: victim.file, position: victim.at, says: /body checksum/ });
  });

  it('says of a live store what it sees, as notes', () => {
    const files = synced();
    flip(files, victim.file, victim.at + 95);
    const report = verifyStore({ files, paths, nowMs: NOW, live: true });
    assert.equal(report.damaged, false);
    assert.equal(
      report.findings.find(({ file }) => file === victim.file)?.todo,
      'a broker runs: stop it and look again',
    );
  });
});
