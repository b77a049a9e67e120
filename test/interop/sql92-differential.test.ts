import assert from 'node:assert/strict';
import { FilterError } from '../../plugins/filter/contract.js';
import { RecordProperties } from '../../plugins/filter/record-properties.js';
import { EvaluationError } from '../../plugins/filter/sql92/java-number.js';
import type { Read } from '../../plugins/filter/sql92/operand.js';
import { compileSql92 } from '../../plugins/filter/sql92/parser.js';
import { sql92Limits } from '../../plugins/filter/sql92/rule.js';
import { goldenAnswers, goldenMessages } from '../plugins/filter/sql92-golden.js';
import { constructs, literals, Sql92Generator, texts } from './sql92-expressions.js';
import { requireJava, runJava } from './support/java.js';

const expressionCount = Number(process.env['SQL92_EXPRESSIONS'] ?? 6000);
const messageCount = 20;
const seed = Number(process.env['SQL92_SEED'] ?? 497);
const timeoutMs = 170_000;

function stored(properties: Record<string, string>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}\u0001${value}\u0002`)
    .join('');
}

/** One letter per message, as mqk.Sql92Oracle prints them. */
function answers(expression: string, messages: readonly RecordProperties[]): string {
  let read: Read;
  try {
    read = compileSql92(expression, sql92Limits);
  } catch (error) {
    assert.ok(error instanceof FilterError, `${JSON.stringify(expression)} threw ${String(error)}`);
    return 'REFUSED';
  }
  return messages.map((message) => answer(read, message)).join('');
}

function answer(read: Read, message: RecordProperties): string {
  try {
    const value = read(message);
    return value === null ? 'N' : value === true ? 'T' : 'F';
  } catch (error) {
    assert.ok(error instanceof EvaluationError, String(error));
    return 'E';
  }
}

/** Our answers, after both sides were asked and agreed; `properties` holds the property string of each message. */
async function agreed(properties: readonly string[], expressions: readonly string[]): Promise<string[]> {
  const input = [properties, ...expressions].map((line) => JSON.stringify(line)).join('\n');
  const java = await runJava('mqk.Sql92Oracle', [], { input, timeoutMs });
  assert.equal(java.code, 0, java.stderr);
  const theirs = java.stdout.trimEnd().split('\n');
  assert.equal(theirs.length, expressions.length);

  const messages = properties.map((text) => {
    const bytes = Buffer.from(text);
    return new RecordProperties().at(bytes, 0, bytes.length);
  });
  const ours = expressions.map((expression) => answers(expression, messages));
  const differences = expressions.flatMap((expression, at) =>
    ours[at] === theirs[at] ? [] : [`${JSON.stringify(expression)}: ours ${ours[at]}, theirs ${theirs[at]}`],
  );
  assert.deepEqual(
    differences.slice(0, 20),
    [],
    `${differences.length} differences on ${JSON.stringify(properties.slice(0, 20))}`,
  );
  return ours;
}

/** Refused, and true, false, null and an error for some message: each for so many expressions that have the construct. */
function checkOutcomes(name: string, form: RegExp, expressions: readonly string[], answers: readonly string[]): void {
  const having = answers.filter((_, at) => form.test(expressions[at]!));
  for (const outcome of ['REFUSED', ...'TFNE']) {
    const count = having.filter((line) =>
      outcome === 'REFUSED' ? line === outcome : line !== 'REFUSED' && line.includes(outcome),
    );
    assert.ok(count.length >= expressionCount / 500, `${name}: ${count.length} of ${having.length} came to ${outcome}`);
  }
}

describe('SQL92 against the real broker (B25)', function () {
  before(() => requireJava());

  it(`answers ${expressionCount} expressions on ${messageCount} messages as 4.9.7 does, seed ${seed}`, async () => {
    const generator = new Sql92Generator(seed);
    const properties = Array.from({ length: messageCount }, () => generator.properties());
    const expressions = Array.from({ length: expressionCount }, () => generator.expression());
    const ours = await agreed(properties, expressions);

    // The generator is worth something only while it reaches all outcomes, with everything that the language has.
    for (const [name, form] of Object.entries(constructs)) checkOutcomes(name, form, expressions, ours);
    const accepted = ours.filter((line) => line !== 'REFUSED');
    assert.ok(
      accepted.length > expressionCount / 4 && accepted.length < 0.9 * expressionCount,
      `${accepted.length} accepted`,
    );
    for (const letter of 'TFNE') {
      const count = accepted.join('').split(letter).length - 1;
      assert.ok(count > accepted.length, `only ${count} answers ${letter}`);
    }
  });

  it('compares every literal with every text and every literal', async () => {
    const operands = literals.flatMap((text) => [text, `-${text}`]);
    const expressions = operands.flatMap((operand) => [
      ...['=', '<>', '>', '<='].flatMap((order) => [`a ${order} ${operand}`, `${operand} ${order} a`]),
      ...literals.flatMap((other) => [`${operand} = ${other}`, `${operand} > ${other}`]),
      ...literals.map((other) => `a BETWEEN ${operand} AND ${other}`),
    ]);
    await agreed([...texts.map((a) => stored({ a })), ''], expressions);
  });

  it('compares every two texts', async () => {
    const properties = texts.flatMap((a) => texts.map((b) => stored({ a, b })));
    await agreed(properties, ['a = b', 'a > b', 'a <= b', 'a NOT BETWEEN b AND 5', "a IN ('x', '主题', 'it''s')"]);
  });

  it('decides what people get wrong', async () => {
    const ours = await agreed(
      goldenMessages.map(stored),
      goldenAnswers.map(([expression]) => expression),
    );
    assert.deepEqual(
      ours,
      goldenAnswers.map(([, answers]) => answers),
    );
  });
});
