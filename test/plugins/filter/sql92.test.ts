import assert from 'node:assert/strict';
import type { MessageProperties } from '../../../plugins/filter/contract.js';
import { EvaluationError } from '../../../plugins/filter/sql92/java-number.js';
import { compileSql92 } from '../../../plugins/filter/sql92/parser.js';
import { createSql92Rule, sql92Limits, sql92Rule } from '../../../plugins/filter/sql92/rule.js';
import { goldenAnswers, goldenMessages } from './sql92-golden.js';

const messageOf = (properties: Readonly<Record<string, string>>): MessageProperties => ({
  get: (name) => properties[name],
});

function letters(expression: string): string {
  const read = compileSql92(expression, sql92Limits);
  return goldenMessages
    .map((properties) => {
      try {
        const value = read(messageOf(properties));
        return value === null ? 'N' : value === true ? 'T' : 'F';
      } catch (error) {
        assert.ok(error instanceof EvaluationError);
        return 'E';
      }
    })
    .join('');
}

const refuses = (expression: string, reason: RegExp, position: number): void => {
  assert.throws(() => sql92Rule.compile(expression), { name: 'FilterError', reason, position }, expression);
};

describe('SQL92 rule (B25)', () => {
  it('refuses what 4.9.7 refuses and answers as it does', () => {
    for (const [expression, answers] of goldenAnswers) {
      if (answers === 'REFUSED') assert.throws(() => letters(expression), { name: 'FilterError' }, expression);
      else assert.equal(letters(expression), answers, expression);
    }
  });

  it('delivers only what is true', () => {
    for (const [expression, answers] of goldenAnswers) {
      if (answers === 'REFUSED') continue;
      const filter = sql92Rule.compile(expression);
      assert.equal(filter.matchesTagsCode, undefined);
      const delivered = goldenMessages.map((properties) => filter.matches?.(messageOf(properties)));
      assert.deepEqual(
        delivered,
        [...answers].map((letter) => letter === 'T'),
        expression,
      );
    }
  });

  it('names the reason and the position', () => {
    refuses('', /expected a property, a literal or \(, found the end/, 0);
    refuses("a > 'x'", /'x' cannot be compared by >/, 2);
    refuses('a = 1 AND b > 0.0', /0\.0 is smaller than the smallest positive double; write 0/, 14);
    refuses('a BETWEEN 5 AND 1', /BETWEEN 5 AND 1 has its bounds in the wrong order/, 2);
    refuses('a = 9223372036854775808', /larger than any 64-bit integer/, 4);
    refuses('a = 1e999', /larger than any double/, 4);
    refuses('a/b = 1', /unexpected character "\/"/, 1);
    refuses("a = 'x", /no closing quote/, 4);
    refuses('a = 1 /* x', /comment has no end/, 6);
    refuses('a IN (5)', /expected a string, found 5/, 6);
    refuses("5 IN ('5')", /IN takes a property, not 5/, 2);
    refuses('a = NULL', /NULL cannot be compared by = or <>, use IS NULL/, 2);
    refuses('a = 1 AND 5', /5 is not a condition/, 10);
    refuses('(a = 1', /expected \), found the end/, 6);
  });

  it('compares 64-bit integers exactly', () => {
    const equals = sql92Rule.compile('a = 9007199254740993');
    assert.equal(equals.matches?.(messageOf({ a: '9007199254740993' })), true);
    assert.equal(equals.matches?.(messageOf({ a: '9007199254740992' })), false);
    const above = sql92Rule.compile('a > 9223372036854775806');
    assert.equal(above.matches?.(messageOf({ a: '9223372036854775807' })), true);
    assert.equal(above.matches?.(messageOf({ a: '9223372036854775806' })), false);
    assert.equal(above.matches?.(messageOf({ a: '9223372036854775808' })), false, 'no long, so not delivered');
  });

  it('lets an error of the message reader through: it is none of the message', () => {
    const broken = {
      get: (): string => {
        throw new RangeError('broken record');
      },
    };
    assert.throws(() => sql92Rule.compile('a = 1').matches?.(broken), RangeError);
  });
});

describe('SQL92 limits', () => {
  const { depthMax, expressionLengthMax } = sql92Limits;

  it('allows a chain of any length that fits, as it is no deeper than one term', () => {
    const terms = Array.from({ length: 1300 }, (_, at) => `a = ${at}`);
    const chain = sql92Rule.compile(terms.join(' OR '));
    assert.equal(chain.matches?.(messageOf({ a: '1299' })), true);
    assert.equal(chain.matches?.(messageOf({ a: '1300' })), false);
  });

  it('bounds the length', () => {
    const fits = `a = '${'x'.repeat(expressionLengthMax - 6)}'`;
    assert.equal(fits.length, expressionLengthMax);
    sql92Rule.compile(fits);
    refuses(`${fits} `, /16385 characters, 16384 are allowed/, -1);
  });

  it('bounds nesting', () => {
    const nested = (open: string, depth: number, close: string): string =>
      `${open.repeat(depth)}a = 1${close.repeat(depth)}`;
    assert.equal(sql92Rule.compile(nested('(', depthMax - 1, ')')).matches?.(messageOf({ a: '1' })), true);
    refuses(nested('(', depthMax, ')'), /nested deeper than 500 levels/, depthMax);
    refuses(`${'NOT '.repeat(depthMax)}a`, /nested deeper/, 4 * depthMax);
    refuses(`${'- '.repeat(depthMax)}a = 1`, /nested deeper/, 2 * depthMax);
    refuses(`a${' IS NULL'.repeat(depthMax)}`, /nested deeper/, 2 + 8 * (depthMax - 1));
    refuses(`a${' = a'.repeat(depthMax)}`, /nested deeper/, 2 + 4 * (depthMax - 1));
  });

  it('holds them together: no mixture of chains and parentheses reaches the end of the stack', () => {
    const generous = createSql92Rule({ expressionLengthMax: 10_000_000, depthMax });
    const chain = ' = TRUE'.repeat(depthMax - 60);
    let expression = 'a = a';
    for (let level = 0; level < 50; level++) expression = `(${expression}) = TRUE${chain}`;
    assert.throws(() => generous.compile(expression), { name: 'FilterError', reason: /nested deeper/ });
  });

  it('can be set', () => {
    const strict = createSql92Rule({ expressionLengthMax: 10, depthMax: 2 });
    strict.compile('(a = 1)');
    assert.throws(() => strict.compile('((a = 1))'), { reason: /deeper than 2/ });
    assert.throws(() => strict.compile('a = 1 OR b'.padEnd(11)), { reason: /11 characters, 10 are allowed/ });
  });
});
