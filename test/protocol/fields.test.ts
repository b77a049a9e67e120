import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  FieldError,
  longText,
  optionalBoolean,
  optionalInt,
  optionalLong,
  optionalString,
  requireBoolean,
  requireInt,
  requireLong,
  requireString,
} from '../../protocol/fields.js';

describe('protocol/fields', () => {
  const ext = (value: string): Record<string, string> => ({ f: value });
  const fails = (read: () => unknown, problem: RegExp): void => {
    assert.throws(read, (error: unknown) => {
      assert.ok(error instanceof FieldError);
      assert.equal(error.field, 'f');
      assert.match(error.message, problem);
      return true;
    });
  };

  it('names a required field that is missing', () => {
    for (const read of [requireString, requireInt, requireLong, requireBoolean])
      fails(() => read({}, 'f'), /f is missing/);
  });

  it('gives undefined for an optional field that is missing', () => {
    for (const read of [optionalString, optionalInt, optionalLong, optionalBoolean])
      assert.equal(read({}, 'f'), undefined);
  });

  it('reads 32-bit integers as Integer.parseInt does', () => {
    for (const [text, value] of [
      ['0', 0],
      ['-0', 0],
      ['+7', 7],
      ['007', 7],
      ['2147483647', 2147483647],
      ['-2147483648', -2147483648],
    ] as const) {
      assert.equal(requireInt(ext(text), 'f'), value);
      assert.equal(optionalInt(ext(text), 'f'), value);
    }
    for (const text of [
      '',
      '-',
      '+',
      ' 1',
      '1 ',
      '1.0',
      '1e3',
      '0x1',
      '2147483648',
      '-2147483649',
      'a',
      '1'.repeat(50),
    ]) {
      fails(() => requireInt(ext(text), 'f'), /is not a 32-bit integer/);
    }
  });

  it('reads 64-bit integers, rounded beyond 2^53, up to their very ends', () => {
    for (const [text, value] of [
      ['9007199254740991', 9007199254740991],
      ['-9007199254740993', -9007199254740992],
      ['9223372036854775807', 2 ** 63],
      ['-9223372036854775808', -(2 ** 63)],
      ['000000000000000000000005', 5],
    ] as const) {
      assert.equal(requireLong(ext(text), 'f'), value);
      assert.equal(optionalLong(ext(text), 'f'), value);
    }
    for (const text of ['9223372036854775808', '-9223372036854775809', '1.5', '99999999999999999999', '--1']) {
      fails(() => requireLong(ext(text), 'f'), /is not a 64-bit integer/);
    }
  });

  it('reads booleans as Boolean.parseBoolean does', () => {
    for (const [text, value] of [
      ['true', true],
      ['TRUE', true],
      ['tRue', true],
      ['false', false],
      ['', false],
      ['1', false],
      ['true ', false],
    ] as const) {
      assert.equal(requireBoolean(ext(text), 'f'), value);
      assert.equal(optionalBoolean(ext(text), 'f'), value);
    }
  });

  it('writes longs that Java can read back, whatever the number', () => {
    assert.equal(longText(2 ** 63), '9223372036854775807');
    assert.equal(longText(-(2 ** 63)), '-9223372036854775808');
    assert.equal(longText(2 ** 60), '1152921504606846976');
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const text = longText(Number(value));
        assert.equal(BigInt.asIntN(64, BigInt(text)), BigInt(text));
        assert.equal(requireLong(ext(text), 'f'), Number(value));
      }),
    );
  });

  it('shortens what it shows of a hostile value', () => {
    fails(() => requireInt(ext('x'.repeat(5000)), 'f'), /^header field f is not a 32-bit integer: "x{40}…"$/);
  });
});
