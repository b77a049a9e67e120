import assert from 'node:assert/strict';
import {
  compareDoubles,
  compareLongs,
  EvaluationError,
  parseJavaDouble,
  parseJavaInt,
  parseJavaLong,
} from '../../../plugins/filter/sql92/java-number.js';

// Printed by Java 17: Double.doubleToLongBits(Double.valueOf(text)).
// prettier-ignore
const doubles = [
  ['5', '4014000000000000'], ['05', '4014000000000000'], [' 5.5\u0009', '4016000000000000'], ['5f', '4014000000000000'],
  ['5D', '4014000000000000'], ['5.', '4014000000000000'], ['.5', '3fe0000000000000'], ['-.5', 'bfe0000000000000'], ['-5.', 'c014000000000000'], ['1e5', '40f86a0000000000'],
  ['1E-5', '3ee4f8b588e368f1'], ['1e400', '7ff0000000000000'], ['-1e400', 'fff0000000000000'], ['1e-400', '0000000000000000'],
  ['-0.0', '8000000000000000'], ['NaN', '7ff8000000000000'], ['-NaN', '7ff8000000000000'], ['-Infinity', 'fff0000000000000'],
  ['0x1p3', '4020000000000000'], ['0X1.8P+1f', '4008000000000000'], ['0x.8p0', '3fe0000000000000'], ['0x1p-1074', '0000000000000001'],
  ['0x1.8p-1075', '0000000000000001'], ['0x1p-1075', '0000000000000000'], ['0x1.8p-1074', '0000000000000002'],
  ['0x3p-1075', '0000000000000002'], ['0x5p-1075', '0000000000000002'], ['0x1.fffffffffffff7p1023', '7fefffffffffffff'],
  ['0x1.fffffffffffff8p1023', '7ff0000000000000'], ['0x1.00000000000008p0', '3ff0000000000000'],
  ['0x1.00000000000018p0', '3ff0000000000002'], ['0x1.000000000000080000001p0', '3ff0000000000001'], ['-0x0p0', '8000000000000000'],
  ['0x1p99999', '7ff0000000000000'], ['0x1p-99999', '0000000000000000'], ['-0x1.8p1', 'c008000000000000'],
  ['0x0.0000001p30', '4010000000000000'], ['0x1.p3', '4020000000000000'],
  ...['', '.', '-', '-.', '1.2.3', '5..', '5.-', 'e5', '5e', '5L', 'infinity', '0x10', '5 5', '\u00a05', '\u0665', '1_0', '+ 5', 'nan', '0x.p3'].map((text) => [text, 'refused'] as const),
] as const;

// Printed by Java 17: Long.valueOf(text), Integer.valueOf(text).
// prettier-ignore
const integers = [
  ['5', '5', '5'], ['05', '5', '5'], ['+5', '5', '5'], ['-5', '-5', '-5'], ['0', '0', '0'], ['-0', '0', '0'],
  ['2147483647', '2147483647', '2147483647'], ['2147483648', '2147483648', 'refused'],
  ['-2147483648', '-2147483648', '-2147483648'], ['-2147483649', '-2147483649', 'refused'],
  ['9007199254740991', '9007199254740991', 'refused'], ['9007199254740992', '9007199254740992', 'refused'],
  ['9007199254740993', '9007199254740993', 'refused'], ['-9007199254740993', '-9007199254740993', 'refused'],
  ['9223372036854775807', '9223372036854775807', 'refused'], ['9223372036854775808', 'refused', 'refused'],
  ['-9223372036854775808', '-9223372036854775808', 'refused'], ['-9223372036854775809', 'refused', 'refused'],
  ['00000000000000000000000000000012', '12', '12'], ['99999999999999999999999', 'refused', 'refused'],
  ['\u0665', '5', '5'], ['\u096b', '5', '5'], ['\uff15', '5', '5'], ['-\u09eb', '-5', '-5'], ['\u0be7\u0be6', '10', '10'],
  ['\u19d9', '9', '9'], ['\u1946', '0', '0'], ['5\u0665', '55', '55'],
  ...['\u19da', '\u2460', '\ud835\udfd3', '', ' 5', '5 ', '+', '-', '--5', '5.0', '5L', '0x5', '1_0'].map((text) => [text, 'refused', 'refused'] as const),
] as const;

function printed(parse: () => number | bigint): string {
  try {
    const value = parse();
    assert.ok(!Object.is(value, -0));
    return String(value);
  } catch (error) {
    assert.ok(error instanceof EvaluationError);
    return 'refused';
  }
}

function bits(text: string): string {
  const bytes = Buffer.alloc(8);
  try {
    bytes.writeDoubleBE(parseJavaDouble(text));
    return bytes.toString('hex');
  } catch (error) {
    assert.ok(error instanceof EvaluationError);
    return 'refused';
  }
}

describe('numbers as Java reads them', () => {
  it('reads doubles', () => {
    for (const [text, expected] of doubles) assert.equal(bits(text), expected, JSON.stringify(text));
  });

  it('reads longs and ints', () => {
    for (const [text, long, int] of integers) {
      assert.equal(
        printed(() => parseJavaLong(text)),
        long,
        JSON.stringify(text),
      );
      assert.equal(
        printed(() => parseJavaInt(text)),
        int,
        JSON.stringify(text),
      );
    }
  });

  it('orders doubles: -0.0 below 0.0, NaN above all and equal to itself', () => {
    const ascending = [-Infinity, -1, -0, 0, Number.MIN_VALUE, 1, Infinity, NaN];
    ascending.forEach((left, at) =>
      ascending.forEach((right, other) => assert.equal(compareDoubles(left, right), Math.sign(at - other))),
    );
  });

  it('orders longs beyond exact numbers', () => {
    const ascending = [-(2n ** 63n), -5, 0, 2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
    ascending.forEach((left, at) =>
      ascending.forEach((right, other) => assert.equal(compareLongs(left, right), Math.sign(at - other))),
    );
  });

  it('needs no more than linear time for a text of 32 KiB', () => {
    for (const text of [
      '1'.repeat(32_767),
      `${'1'.repeat(32_766)}x`,
      `0x${'f'.repeat(32_000)}p${'9'.repeat(700)}`,
      ' '.repeat(32_767),
    ])
      for (const parse of [parseJavaInt, parseJavaLong, parseJavaDouble]) {
        const start = process.hrtime.bigint();
        printed(() => parse(text));
        assert.ok(process.hrtime.bigint() - start < 100_000_000n, `${parse.name} of ${text.slice(0, 9)}…`);
      }
  });
});
