import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readJson, type JsonValue } from '../../../protocol/bodies/json.js';
import { decodeConsumerOffsetTable, encodeConsumerOffsetTable } from '../../../protocol/bodies/consumer-offset.js';
import { decodeResetOffsetBody } from '../../../protocol/bodies/reset-offset.js';
import { decodeTopicRouteData } from '../../../protocol/bodies/route.js';
import { ProtocolError } from '../../../protocol/errors.js';

/** With prototypes, for comparison. */
function plain(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  assert.equal(Object.getPrototypeOf(value), null);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

describe('protocol/bodies/json', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const again = (value: unknown): unknown =>
          JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one)));
        assert.deepEqual(again(plain(readJson(text))), again(JSON.parse(text)));
      }),
    );
  });

  it('reads bare number keys, object keys and array keys (B35)', () => {
    assert.deepEqual(plain(readJson('{0:"a",-1:"b",10:{2:3}}')), { 0: 'a', '-1': 'b', 10: { 2: 3 } });
    assert.deepEqual(Object.entries(readJson('{{"queueId":0,"topic":"T}{"}:12,[1,2]:3}') as object), [
      ['{"queueId":0,"topic":"T}{"}', 12],
      ['[1,2]', 3],
    ]);
  });

  it('reads names without quotes and strings in single quotes', () => {
    assert.deepEqual(plain(readJson(`{name:'it\\'s "x"','b':true,$c_1:null}`)), {
      name: `it's "x"`,
      b: true,
      $c_1: null,
    });
  });

  it('keeps all digits of integers beyond 2^53 (B35)', () => {
    assert.deepEqual(readJson('[9007199254740991,9007199254740993,-9223372036854775808,9223372036854775807]'), [
      9007199254740991,
      9007199254740993n,
      -9223372036854775808n,
      9223372036854775807n,
    ]);
    assert.deepEqual(readJson('[1.5,1e3,-0.25,1E-2,1234567890123456.5]'), [1.5, 1000, -0.25, 0.01, 1234567890123456.5]);
  });

  it('reads escapes', () => {
    assert.equal(readJson('"\\u4e3b\\u9898 \\n\\t\\b\\f\\r\\/\\\\\\"\\x41 \\uD83D\\uDE00"'), '主题 \n\t\b\f\r/\\"A 😀');
  });

  it('reads bytes, a byte order mark and space around', () => {
    assert.equal(readJson(Buffer.from(' \t\r\n"é" ')), 'é');
    assert.deepEqual(readJson(Buffer.from('\ufeff[1 , 2,]')), [1, 2]);
  });

  it('keeps hostile names away from prototypes (B37)', () => {
    const value = readJson('{"__proto__":{"polluted":1},"constructor":2}') as Record<string, JsonValue>;
    assert.deepEqual(Object.keys(value), ['__proto__', 'constructor']);
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  const bad = [
    '',
    '{',
    '[',
    '"',
    "'",
    '{"a"}',
    '{"a":}',
    '{"a":1',
    '{"a":1 "b":2}',
    '[1 2]',
    '1 2',
    'nul',
    'undefined',
    '-',
    '{:1}',
    '"\\q"',
    '"\\u12"',
    'NaN',
    '{,}',
    '[,]',
  ];
  for (const text of bad) {
    it(`refuses ${text || 'nothing'}`, () => {
      assert.throws(() => readJson(text), ProtocolError);
    });
  }

  it('refuses what is nested too deep, too long or has too many members', () => {
    assert.throws(() => readJson('['.repeat(10_000)), /nested deeper than 64/);
    assert.throws(() => readJson('{"a":'.repeat(10_000)), /nested deeper than 64/);
    assert.throws(() => readJson(`${'{'.repeat(10_000)}`), /nested deeper than 64/);
    assert.throws(() => readJson('[1,2,3]', { bytesMax: 5 }), /longer than 5/);
    assert.throws(() => readJson('[1,2,3]', { membersMax: 2 }), /too many members/);
    assert.deepEqual(readJson('[1,2,3]', { membersMax: 3 }), [1, 2, 3]);
  });

  it('any text gives a value or a ProtocolError', () => {
    const pieces = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', "'", ':', ',', '1', 'a', '\\', ' ', 'true', '{"a":1}'),
    );
    fc.assert(
      fc.property(
        pieces.map((parts) => parts.join('')),
        (text) => {
          try {
            readJson(text);
          } catch (error) {
            assert.ok(error instanceof ProtocolError);
          }
        },
      ),
    );
  });

  describe('bodies and files of the Java side (B35)', () => {
    const entries = (table: ReadonlyMap<string, ReadonlyMap<number, number>>): unknown =>
      [...table].map(([key, queues]) => [key, [...queues]]);

    it('consumerOffset.json, bare and quoted', () => {
      for (const text of [
        '{"offsetTable":{"T@G":{0:12,1:30}}}',
        '{\n\t"offsetTable":{\n\t\t"T@G":{"0":12,"1":30}\n\t}\n}',
      ]) {
        assert.deepEqual(entries(decodeConsumerOffsetTable(text)), [
          [
            'T@G',
            [
              [0, 12],
              [1, 30],
            ],
          ],
        ]);
      }
      assert.equal(
        encodeConsumerOffsetTable(new Map([['T@G', new Map([[0, 12]])]])).toString(),
        '{"offsetTable":{"T@G":{0:12}}}',
      );
    });

    it('a reset-offset body, and the broadcast offsets.json with its object keys', () => {
      const key = { topic: 'T', brokerName: 'b', queueId: 0 };
      const body = decodeResetOffsetBody('{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:12}}');
      assert.deepEqual(body.offsetTable, [[key, 12]]);
      const forC = decodeResetOffsetBody('{"offsetTable":[{"brokerName":"b","offset":12,"queueId":0,"topic":"T"}]}');
      assert.deepEqual(forC.offsetTable, [[key, 12]]);
    });

    it('routes with bare and with quoted broker ids', () => {
      for (const id of ['0', '"0"']) {
        const route = decodeTopicRouteData(
          `{"brokerDatas":[{"brokerAddrs":{${id}:"h:1"},"brokerName":"b","cluster":"C"}],"filterServerTable":{},"queueDatas":[]}`,
        );
        assert.deepEqual([...route.brokerDatas[0]!.brokerAddrs], [[0, 'h:1']]);
      }
    });

    it('a number key that is none is an error that names the table', () => {
      assert.throws(
        () => decodeConsumerOffsetTable('{"offsetTable":{"T@G":{"x":1}}}'),
        /key of offsetTable.T@G is not an integer/,
      );
      assert.throws(
        () => decodeConsumerOffsetTable('{"offsetTable":{"T@G":{"1":"a"}}}'),
        /offsetTable.T@G.1 is not an integer/,
      );
      assert.throws(() => decodeConsumerOffsetTable('{"offsetTable":[]}'), /offsetTable is not an object/);
      assert.throws(() => decodeConsumerOffsetTable('[]'), /consumer offsets is not an object/);
    });
  });
});
