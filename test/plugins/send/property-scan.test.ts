import assert from 'node:assert/strict';
import fc from 'fast-check';
import { PropertyScan } from '../../../plugins/send/property-scan.js';
import { viewOf } from '../../../protocol/copy.js';
import { parseProperties } from '../../../protocol/message/properties.js';

interface Scanned {
  readonly stored: string;
  readonly waitStore: boolean;
  readonly delayLevel: number;
  readonly transaction: boolean;
}

function scan(text: string, cluster = 'C'): Scanned {
  const source = Buffer.from(`xx${text}yy`);
  const scanner = new PropertyScan(cluster);
  // What an earlier message left behind must not show.
  scanner.scan(Buffer.from('DELAY\u00015\u0002WAIT\u0001false\u0002TRAN_MSG\u0001true'), 0, 36);
  scanner.scan(source, 2, source.length - 2);
  const target = Buffer.alloc(scanner.storedBytes + 4, 0xee);
  assert.equal(
    scanner.write(viewOf(source), viewOf(target), 2),
    2 + scanner.storedBytes,
    'storedBytes is what is written',
  );
  assert.deepEqual([target[1], target[2 + scanner.storedBytes]], [0xee, 0xee], 'and nothing else');
  const { waitStore, delayLevel, transaction } = scanner;
  return { stored: target.toString('utf8', 2, 2 + scanner.storedBytes), waitStore, delayLevel, transaction };
}

describe('property scan', () => {
  for (const [name, text, stored] of [
    ['keeps all of it, in order', 'a\u0001b\u0002KEYS\u0001k', 'a\u0001b\u0002KEYS\u0001k\u0002CLUSTER\u0001C'],
    ['adds the cluster to none', '', 'CLUSTER\u0001C'],
    ['drops WAIT at the beginning', 'WAIT\u0001true\u0002a\u0001b', 'a\u0001b\u0002CLUSTER\u0001C'],
    ['drops WAIT in between', 'a\u0001b\u0002WAIT\u0001x\u0002c\u0001d', 'a\u0001b\u0002c\u0001d\u0002CLUSTER\u0001C'],
    ['drops WAIT at the end', 'a\u0001b\u0002WAIT\u0001true', 'a\u0001b\u0002CLUSTER\u0001C'],
    ['drops WAIT alone', 'WAIT\u0001true', 'CLUSTER\u0001C'],
    [
      "says the cluster itself, whatever the client's was",
      'CLUSTER\u0001evil\u0002a\u0001b',
      'a\u0001b\u0002CLUSTER\u0001C',
    ],
    ['drops an entry without separator', 'a\u0002b\u0001c', 'b\u0001c\u0002CLUSTER\u0001C'],
    ['drops an empty name', '\u0001v\u0002b\u0001c', 'b\u0001c\u0002CLUSTER\u0001C'],
    ['drops an empty value', 'a\u0001\u0002b\u0001c', 'b\u0001c\u0002CLUSTER\u0001C'],
    ['takes a separator at the end', 'a\u0001b\u0002', 'a\u0001b\u0002CLUSTER\u0001C'],
    ['drops empty entries', '\u0002\u0002a\u0001b\u0002\u0002', 'a\u0001b\u0002CLUSTER\u0001C'],
    ['keeps a value with a second separator', 'a\u0001b\u0001c', 'a\u0001b\u0001c\u0002CLUSTER\u0001C'],
    [
      'keeps names that only begin alike',
      'WAITS\u00011\u0002WAI\u00012',
      'WAITS\u00011\u0002WAI\u00012\u0002CLUSTER\u0001C',
    ],
    ['keeps long values', `k\u0001${'v'.repeat(500)}`, `k\u0001${'v'.repeat(500)}\u0002CLUSTER\u0001C`],
  ] as const)
    it(name, () => assert.equal(scan(text).stored, stored));

  it('stores what 4.9 would store, over any text', () => {
    const piece = fc.constantFrom('a', 'WAIT', 'CLUSTER', 'KEYS', '\u0001', '\u0002', 'true', '键', '😀', '');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const expected = parseProperties(pieces.join(''));
        expected.delete('WAIT');
        expected.set('CLUSTER', 'C');
        assert.deepEqual(parseProperties(scan(pieces.join('')).stored), expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('finds what asks for a delivery time, keeps it, and tells it from what only looks alike', () => {
    const scanner = new PropertyScan('C');
    const timer = (text: string): unknown => {
      scanner.scan(Buffer.from(text), 0, text.length);
      return scanner.timer;
    };
    assert.deepEqual(timer('a\u0001b\u0002TIMER_DELAY_SEC\u00015\u0002TIMER_OUT_MS\u00017'), {
      delaySec: '5',
      out: '7',
    });
    assert.deepEqual(timer('TIMER_DELAY_MS\u00011\u0002TIMER_DELAY_MS\u00012'), { delayMs: '2' });
    assert.deepEqual(timer('TIMER_DEL_UNIQKEY\u0001k\u0002TIMER_DELIVER_MS\u00019'), { cancel: 'k', deliverMs: '9' });
    for (const text of [
      '',
      'TIMER_DELAY_SEX\u00011',
      'XTIMER_DELAY_SEC\u00011',
      'TIMER_DELAY_SEC\u0001',
      'k\u0001TIMER_OUT_MS',
    ])
      assert.equal(timer(text), undefined, text);
    assert.equal(scan('TIMER_DELAY_SEC\u00015').stored, 'TIMER_DELAY_SEC\u00015\u0002CLUSTER\u0001C');
  });

  it('waits for the store unless told otherwise (4.9: Boolean#parseBoolean)', () => {
    for (const [text, waits] of [
      ['', true],
      ['WAIT\u0001true', true],
      ['WAIT\u0001TRUE', true],
      ['WAIT\u0001tRuE', true],
      ['WAIT\u0001false', false],
      ['WAIT\u0001yes', false],
      ['WAIT\u0001true ', false],
      ['WAIT\u0001', true],
      ['WAIT\u0001false\u0002WAIT\u0001true', true],
    ] as const)
      assert.equal(scan(text).waitStore, waits, JSON.stringify(text));
  });

  it('stores what is put, with or without what was kept', () => {
    const source = Buffer.from('a\u0001b');
    const target = Buffer.alloc(100);
    const scanner = new PropertyScan('C');
    for (const [end, stored] of [
      [3, 'a\u0001b\u0002DELAY\u00013\u0002REAL_QID\u00010\u0002CLUSTER\u0001C'],
      [0, 'DELAY\u00013\u0002REAL_QID\u00010\u0002CLUSTER\u0001C'],
    ] as const) {
      scanner.scan(source, 0, end);
      scanner.put({ DELAY: '3', REAL_QID: '0' });
      assert.equal(scanner.write(viewOf(source), viewOf(target), 0), scanner.storedBytes);
      assert.equal(target.toString('utf8', 0, scanner.storedBytes), stored);
    }
  });

  it('knows what is delayed, and what is a transaction', () => {
    for (const [text, level] of [
      ['DELAY\u00011', 1],
      ['DELAY\u000118', 18],
      ['DELAY\u0001+2', 2],
      ['DELAY\u00010', 0],
      ['DELAY\u000100', 0],
      ['DELAY\u0001-1', 0],
      ['DELAY\u0001soon', NaN],
      ['DELAY\u0001-', NaN],
      ['DELAY\u0001', 0],
      ['DELAY\u00015\u0002DELAY\u00010', 0],
      ['DELAYS\u00015', 0],
      ['', 0],
    ] as const)
      assert.equal(scan(text).delayLevel, level, JSON.stringify(text));
    for (const [text, transaction] of [
      ['TRAN_MSG\u0001true', true],
      ['TRAN_MSG\u0001True', true],
      ['TRAN_MSG\u0001false', false],
      ['TRAN_MSG\u00011', false],
      ['', false],
    ] as const)
      assert.equal(scan(text).transaction, transaction, JSON.stringify(text));
  });
});
