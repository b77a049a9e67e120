import assert from 'node:assert/strict';
import fc from 'fast-check';
import { tagsCodeOf } from '../../../protocol/message/hash.js';
import { parseProperties } from '../../../protocol/message/properties.js';
import { deliverTimestamp, parseDelayLevels } from '../../../store/dispatch/delay-levels.js';
import { DispatchFields, isQueued, readDispatch } from '../../../store/dispatch/read-dispatch.js';
import { TopicCache } from '../../../store/dispatch/topic-cache.js';
import { testRecord } from '../../support/records.js';

const levels = parseDelayLevels('1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h');
const text = (buffer: Buffer, start: number, end: number): string => buffer.toString('utf8', start, end);
const tagsCode = (fields: DispatchFields): bigint => (BigInt(fields.tagsHigh) << 32n) | BigInt(fields.tagsLow >>> 0);

function read(record: Buffer, physicalOffset = 0): DispatchFields {
  const fields = new DispatchFields(levels);
  assert.equal(readDispatch(record, 0, physicalOffset, fields), undefined);
  return fields;
}

describe('readDispatch', () => {
  it('finds everything in a record', () => {
    const properties = 'KEYS\u0001a b\u0002UNIQ_KEY\u00017F01\u0002TAGS\u0001TagA\u0002x\u0001y';
    const record = testRecord({
      topic: '%RETRY%g',
      queueId: 3,
      queueOffset: 5_000_000_001,
      physicalOffset: 9_000_000_000,
      storeTimestamp: 1_700_000_000_123,
      body: Buffer.from('hello'),
      properties,
    });
    const fields = read(record, 9_000_000_000);
    assert.equal(fields.topic, '%RETRY%g');
    assert.deepEqual([fields.queueId, fields.queueOffset, fields.physicalOffset], [3, 5_000_000_001, 9_000_000_000]);
    assert.deepEqual([fields.size, fields.storeTimestamp], [record.length, 1_700_000_000_123]);
    assert.equal(text(record, fields.bodyStart, fields.bodyEnd), 'hello');
    assert.equal(text(record, fields.propertiesStart, fields.propertiesEnd), properties);
    assert.equal(text(record, fields.keysStart, fields.keysEnd), 'a b');
    assert.equal(text(record, fields.uniqKeyStart, fields.uniqKeyEnd), '7F01');
    assert.equal(text(record, fields.tagsStart, fields.tagsEnd), 'TagA');
    // "TagA".hashCode() in Java: ((84·31 + 97)·31 + 103)·31 + 65.
    assert.equal(tagsCode(fields), 2_598_919n);
  });

  it('forgets the record before', () => {
    const fields = new DispatchFields(levels);
    const first = testRecord({
      physicalOffset: 0,
      properties: 'TAGS\u0001a\u0002KEYS\u0001k\u0002UNIQ_KEY\u0001u\u0002DELAY\u00011',
    });
    const second = testRecord({ physicalOffset: first.length, topic: 'Other' });
    const both = Buffer.concat([first, second]);
    assert.equal(readDispatch(both, 0, 0, fields), undefined);
    assert.equal(readDispatch(both, first.length, first.length, fields), undefined);
    assert.equal(fields.topic, 'Other');
    assert.deepEqual(
      [fields.tagsEnd, fields.keysEnd, fields.uniqKeyEnd, fields.delayEnd, fields.tagsHigh, fields.tagsLow],
      [0, 0, 0, 0, 0, 0],
    );
  });

  it('takes the due time for the tags code of the delay topic only', () => {
    const storeTimestamp = 1_700_000_000_000;
    const code = (topic: string, properties: string): bigint =>
      tagsCode(read(testRecord({ topic, properties, storeTimestamp, physicalOffset: 0 })));
    const due = (ms: number): bigint => BigInt(storeTimestamp + ms);
    assert.equal(code('SCHEDULE_TOPIC_XXXX', 'DELAY\u00013\u0002TAGS\u0001a'), due(10_000));
    assert.equal(code('SCHEDULE_TOPIC_XXXX', 'DELAY\u000118'), due(7_200_000));
    assert.equal(code('SCHEDULE_TOPIC_XXXX', 'DELAY\u000199'), due(7_200_000), 'clamped to the last level');
    assert.equal(code('SCHEDULE_TOPIC_XXXX', 'DELAY\u00010\u0002TAGS\u0001a'), 97n);
    assert.equal(code('SCHEDULE_TOPIC_XXXX', 'DELAY\u0001-4'), 0n);
    assert.equal(code('SCHEDULE_TOPIC_XXXX', 'DELAY\u0001soon\u0002TAGS\u0001a'), 97n);
    assert.equal(code('T', 'DELAY\u00013\u0002TAGS\u0001a'), 97n);
  });

  it('takes the due time of a timer for the tags code of its topic only', () => {
    const code = (topic: string, properties: string): bigint =>
      tagsCode(read(testRecord({ topic, properties, physicalOffset: 0 })));
    const [timer, due] = ['rmq_sys_wheel_timer', 1_700_000_123_456n];
    assert.equal(code(timer, `TAGS\u0001a\u0002TIMER_OUT_MS\u0001${due}`), due);
    assert.equal(code(timer, `TIMER_OUT_MS\u00015\u0002TIMER_OUT_MS\u0001${due}`), due, 'the last of two counts');
    for (const bad of ['', 'soon', '-1', '1.5', '9'.repeat(17)])
      assert.equal(code(timer, `TAGS\u0001a\u0002TIMER_OUT_MS\u0001${bad}`), 97n, bad);
    assert.equal(code(timer, `TAGS\u0001a\u0002TIMER_OUT_MX\u0001${due}`), 97n);
    assert.equal(code('T', `TAGS\u0001a\u0002TIMER_OUT_MS\u0001${due}`), 97n);
  });

  it('moves with IPv6 hosts', () => {
    const v4 = testRecord({ physicalOffset: 0, properties: 'TAGS\u0001a', body: Buffer.from('xyz') });
    const v6 = Buffer.concat([
      v4.subarray(0, 52),
      Buffer.alloc(12),
      v4.subarray(52, 68),
      Buffer.alloc(12),
      v4.subarray(68),
    ]);
    v6.writeInt32BE(v6.length, 0);
    v6.writeInt32BE((1 << 4) | (1 << 5), 36);
    const fields = read(v6);
    assert.equal(text(v6, fields.bodyStart, fields.bodyEnd), 'xyz');
    assert.equal(fields.storeTimestamp, 1_700_000_000_000);
    assert.equal(tagsCode(fields), 97n);
  });

  it('refuses names that may not become a folder (B32)', () => {
    for (const topic of ['../../etc', 'a/b', '.', '', 'a\u0000b', 'ä', 'a b']) {
      const fields = new DispatchFields(levels);
      assert.match(readDispatch(testRecord({ topic, physicalOffset: 0 }), 0, 0, fields) ?? '', /topic/, topic);
    }
  });

  it('refuses queue numbers and offsets below zero', () => {
    const fields = new DispatchFields(levels);
    const record = testRecord({ physicalOffset: 0 });
    record.writeInt32BE(-1, 12);
    assert.match(readDispatch(record, 0, 0, fields) ?? '', /queue -1/);
    const other = testRecord({ physicalOffset: 0 });
    other.writeInt32BE(-1, 20);
    assert.match(readDispatch(other, 0, 0, fields) ?? '', /offset -/);
  });

  it('reads properties as parseProperties does, whatever they are', () => {
    const piece = fc.constantFrom(
      'TAGS',
      'KEYS',
      'UNIQ_KEY',
      'DELAY',
      '\u0001',
      '\u0002',
      'x',
      '标签',
      '',
      '\u0001\u0002',
      '5',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const properties = pieces.join('');
        const record = testRecord({ physicalOffset: 0, properties });
        const fields = read(record);
        const expected = parseProperties(properties);
        const value = (start: number, end: number): string | undefined =>
          end === 0 ? undefined : text(record, start, end);
        assert.equal(value(fields.tagsStart, fields.tagsEnd), expected.get('TAGS'));
        assert.equal(value(fields.keysStart, fields.keysEnd), expected.get('KEYS'));
        assert.equal(value(fields.uniqKeyStart, fields.uniqKeyEnd), expected.get('UNIQ_KEY'));
        assert.equal(value(fields.delayStart, fields.delayEnd), expected.get('DELAY'));
        assert.equal(tagsCode(fields), tagsCodeOf(expected.get('TAGS')));
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws, whatever the bytes', () => {
    const record = testRecord({
      physicalOffset: 0,
      body: Buffer.alloc(50),
      properties: 'TAGS\u0001a\u0002KEYS\u0001k',
    });
    const fields = new DispatchFields(levels);
    fc.assert(
      fc.property(fc.nat(record.length - 1), fc.nat(255), fc.nat(record.length), (at, value, length) => {
        const bytes = Buffer.from(record.subarray(0, length));
        if (at < length) bytes[at] = value;
        readDispatch(bytes, 0, 0, fields);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('isQueued', () => {
  it('is false for prepared and rolled-back messages only', () => {
    assert.deepEqual([0, 4, 8, 12, 1 | 8, 4 | 16, 255].map(isQueued), [true, false, true, false, true, false, false]);
  });
});

describe('TopicCache', () => {
  it('gives the right name however many there are', () => {
    const cache = new TopicCache();
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 5000; index += 1) {
        const name = Buffer.from(`..Topic-${index}`);
        assert.equal(cache.get(name, 2, name.length), `Topic-${index}`);
      }
    }
    const long = Buffer.alloc(128, 'a');
    assert.equal(cache.get(long, 0, 127), 'a'.repeat(127));
    assert.equal(cache.get(long, 0, 128), undefined);
    assert.equal(cache.get(long, 5, 5), undefined);
  });
});

describe('delay levels', () => {
  it('are those of the setting', () => {
    assert.equal(levels.length, 18);
    assert.deepEqual([levels[0], levels[4], levels[17]], [1000, 60_000, 7_200_000]);
    assert.deepEqual(parseDelayLevels('2d'), [172_800_000]);
    assert.equal(deliverTimestamp(levels, 19, 5), 1005);
    for (const text of ['', '1s  5s', '5', 's', '5x', '-1s'])
      assert.throws(() => parseDelayLevels(text), { code: 'DELAY_LEVEL' });
  });
});
