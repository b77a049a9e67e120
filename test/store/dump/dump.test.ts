import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { SysFlag } from '../../../protocol/codes.js';
import { type DumpedRecord, StoreDump, sysFlagWords } from '../../../store/dump/dump.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { MemoryFiles } from '../../../store/files/memory-files.js';
import { storePaths } from '../../../store/files/paths.js';
import { javaFiles, javaStore } from '../../support/java-store.js';
import { testRecord } from '../../support/records.js';

const golden = javaStore();
const paths = storePaths('/s');

function records(dump: StoreDump, topic: string, queueId: number, from?: number, count = 100): DumpedRecord[] {
  const range = dump.range(topic, queueId);
  return [...dump.messages(range, from ?? range.minOffset, count)].map((entry) => {
    assert.ok(!('problem' in entry), JSON.stringify(entry));
    return entry;
  });
}

describe('dumping a store of RocketMQ 4.9.7', () => {
  it('lists its queues with the ranges that 4.9 sees', () => {
    const dump = new StoreDump({ files: javaFiles(golden, () => true), paths });
    const known = golden.state.queues.filter(({ lastPhysical }) => lastPhysical >= 0);
    assert.deepEqual(
      [...dump.ranges()],
      known
        .map(({ topic, queueId, min, max }) => ({ topic, queueId, minOffset: min, maxOffset: max }))
        .sort((a, b) => (a.topic === b.topic ? a.queueId - b.queueId : a.topic < b.topic ? -1 : 1)),
    );
    assert.deepEqual([...dump.ranges('OddProps')].length, 1);
    assert.throws(() => dump.range('OddProps', 1), { code: 'QUEUE_UNKNOWN' });
  });

  it('shows what was sent: ids, hosts, keys, properties, flags', () => {
    const dump = new StoreDump({ files: javaFiles(golden, () => true), paths });
    const found = records(dump, 'GoldenTopic', 1);
    assert.deepEqual(
      found.map(({ queueOffset }) => queueOffset),
      Array.from({ length: 11 }, (_, index) => index),
    );
    // GoldenStore.java: message 5 is the third of queue 1, was born at an IPv6 address and has several tags.
    const fifth = found[2]!;
    assert.deepEqual(
      [fifth.bornHost, fifth.storeHost, fifth.keys, fifth.uniqKey, fifth.tags, fifth.flag],
      ['[fe80:0:0:0:0:0:0:1]:40000', '127.0.0.1:10911', 'k5 other', '7F0000010005', '标签', 7],
    );
    assert.deepEqual(fifth.sysFlagWords, ['multi tags', 'born host IPv6']);
    assert.equal(fifth.bornTimestamp, 1_700_000_000_123);
    assert.equal(fifth.msgId, `7F00000100002A9F${fifth.physicalOffset.toString(16).toUpperCase().padStart(16, '0')}`);
    assert.deepEqual([fifth.file, fifth.position], ['/s/commitlog/00000000000000000000', fifth.physicalOffset]);
    assert.equal(dump.at(fifth.physicalOffset).queueOffset, 2);
  });

  it('begins and ends where it is told to', () => {
    const dump = new StoreDump({ files: javaFiles(golden, () => true), paths });
    assert.deepEqual(
      records(dump, 'GoldenTopic', 0, 4, 3).map(({ queueOffset }) => queueOffset),
      [4, 5, 6],
    );
    assert.deepEqual(records(dump, 'GoldenTopic', 0, 1000), []);
  });

  it('says why a unit leads nowhere, and goes on', () => {
    const files = javaFiles(golden, () => true);
    const unit = files.open('/s/consumequeue/GoldenTopic/0/00000000000000000000', 'readWrite');
    unit.write(Buffer.from([0, 0, 0, 0, 0, 0, 0, 3]), 0, 8, 20);
    unit.write(Buffer.from([1, 0, 0]), 0, 3, 45);
    const dump = new StoreDump({ files, paths });
    const found = [...dump.messages({ topic: 'GoldenTopic', queueId: 0, minOffset: 0, maxOffset: 4 }, 0, 4)];
    const said = found.map((entry) => ('problem' in entry ? entry.problem : 'well'));
    assert.deepEqual([said[0], said[1], said[3]], ['well', 'its unit points to 3, where no whole record lies', 'well']);
    assert.match(said[2]!, /behind the log's files, which end at 12288/);
    assert.throws(() => dump.at(3), { code: 'RECORD_UNKNOWN' });
    assert.throws(() => dump.at(99_999), /behind the log's files/);
  });

  it('reads what is left of a log with a missing and a short file', () => {
    const files = javaFiles(golden, () => true);
    files.remove('/s/commitlog/00000000000000004096');
    files.open('/s/commitlog/00000000000000008192', 'readWrite').truncate(1500);
    const dump = new StoreDump({ files, paths, segmentBytes: 4096 });
    const found = [...dump.messages(dump.range('GoldenTopic', 0), 0, 100)];
    assert.ok(found.some((entry) => 'problem' in entry) && found.some((entry) => !('problem' in entry)));
  });
});

describe('dumping', () => {
  function one(sysFlag: number, body: Buffer): DumpedRecord {
    const segments = new Segments(new MemoryFiles(1 << 20), paths.commitLog, paths.temporary, 4096);
    segments.open();
    const record = testRecord({ physicalOffset: 0, sysFlag, body });
    segments.ensure(0).write(record, 0, record.length, 0);
    return new StoreDump({ files: segments.files, paths }).at(0);
  }

  it('inflates a body, and says when it cannot', () => {
    const packed = deflateSync('plain text');
    const zlib = one(SysFlag.COMPRESSED | SysFlag.COMPRESSION_ZLIB, packed);
    assert.deepEqual([zlib.body.toString(), zlib.storedBodyBytes], ['plain text', packed.length]);
    assert.equal(zlib.bodyProblem, undefined);
    const lz4 = one(SysFlag.COMPRESSED | SysFlag.COMPRESSION_LZ4, packed);
    assert.ok(lz4.body.equals(packed));
    assert.match(lz4.bodyProblem ?? '', /lz4/);
  });

  it('has a word for each bit of sysFlag', () => {
    assert.deepEqual(sysFlagWords(0), []);
    assert.deepEqual(sysFlagWords(1), ['compressed (zlib)']);
    assert.deepEqual(sysFlagWords(1 | SysFlag.COMPRESSION_ZSTD | SysFlag.TRANSACTION_PREPARED), [
      'compressed (zstd)',
      'transaction prepared',
    ]);
    assert.deepEqual(sysFlagWords(SysFlag.TRANSACTION_COMMIT), ['transaction committed']);
    assert.deepEqual(sysFlagWords(SysFlag.TRANSACTION_ROLLBACK), ['transaction rolled back']);
    assert.deepEqual(sysFlagWords(16 | 32 | 64 | 128), [
      'born host IPv6',
      'store host IPv6',
      'need unwrap',
      'inner batch',
    ]);
  });
});
