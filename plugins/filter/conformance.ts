import assert from 'node:assert/strict';
import { javaHash } from '../../protocol/message/hash.js';
import { answerMsMax, fast, type TestRunner } from '../conformance/contract.js';
import { defineFilter, type CompiledFilter, type FilterPlugin, type MessageProperties } from './contract.js';

/** A message as a filter sees it. */
export interface SampleMessage {
  readonly tags?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

/** What the author of a filter says about it; the suite checks that, and what holds for every filter. */
export interface FilterCases {
  readonly accepted: readonly {
    readonly expression: string;
    readonly matching: readonly SampleMessage[];
    readonly notMatching: readonly SampleMessage[];
  }[];
  /** Expressions that `compile` must refuse with a FilterError. */
  readonly refused: readonly string[];
}

/** Checks a filter plugin against the contract: five lines in the author's own tests call it. */
export function filterConformance(plugin: FilterPlugin, cases: FilterCases, { describe, it }: TestRunner): void {
  const { rule } = plugin;
  const expressions = cases.accepted.map(({ expression }) => expression);

  describe(`filter ${plugin.name} (${rule.expressionType})`, () => {
    it('has the shape of a filter plugin', () => {
      const { kind, name } = plugin;
      assert.deepEqual({ kind, name, rule }, defineFilter(name, rule));
      for (const expression of expressions) checkShape(rule.compile(expression), expression);
    });

    for (const { expression, matching, notMatching } of cases.accepted) {
      it(`decides ${shown(expression)}`, () => {
        const filter = rule.compile(expression);
        for (const sample of matching) assert.equal(decide(filter, sample), true, JSON.stringify(sample));
        for (const sample of notMatching) assert.equal(decide(filter, sample), false, JSON.stringify(sample));
      });
    }

    for (const expression of cases.refused) {
      it(`refuses ${shown(expression)} with a FilterError`, () => {
        checkRefusal(expression, () => rule.compile(expression));
      });
    }

    it('gives the same answer for the same message, in any order and from any compiled copy', () => {
      const filters = expressions.map((expression) => [rule.compile(expression), rule.compile(expression)] as const);
      const samples = [...cases.accepted.flatMap(({ matching, notMatching }) => [...matching, ...notMatching]), ...odd];
      const first = filters.map(([filter]) => samples.map((sample) => decide(filter, sample)));
      const again = [...filters].reverse().map(([, filter]) => [...samples].reverse().map((s) => decide(filter, s)));
      assert.deepEqual(
        again.reverse().map((row) => row.reverse()),
        first,
      );
    });

    it('answers true or false for messages without properties and for strange ones', () => {
      for (const expression of expressions) {
        const filter = rule.compile(expression);
        for (const sample of odd) fast(`${shown(expression)} on a strange message`, () => decide(filter, sample));
      }
    });

    it(`compiles or refuses hostile expressions within ${answerMsMax} ms, with a FilterError or not at all`, () => {
      for (const expression of hostile(expressions)) fast(shown(expression), () => compileOrRefuse(plugin, expression));
    });
  });
}

/** As the broker does: the ConsumeQueue entry first, the properties only when that did not say no. */
function decide(filter: CompiledFilter, { tags, properties = {} }: SampleMessage): boolean {
  const byTags = filter.matchesTagsCode?.(javaHash(tags ?? '')) ?? true;
  assert.equal(typeof byTags, 'boolean', 'matchesTagsCode must answer true or false');
  if (!byTags || filter.matches === undefined) return byTags;
  const matches = filter.matches(readOnly(tags === undefined ? properties : { ...properties, TAGS: tags }));
  assert.equal(typeof matches, 'boolean', 'matches must answer true or false');
  return matches;
}

function readOnly(properties: Readonly<Record<string, string>>): MessageProperties {
  return Object.freeze({ get: (name: string) => (Object.hasOwn(properties, name) ? properties[name] : undefined) });
}

function checkShape(filter: CompiledFilter, expression: string): void {
  const asks = [filter.matchesTagsCode, filter.matches].filter((ask) => ask !== undefined);
  assert.ok(asks.length > 0, `${expression}: a compiled filter has matchesTagsCode or matches, or both`);
  for (const ask of asks) assert.equal(typeof ask, 'function', expression);
}

function compileOrRefuse(plugin: FilterPlugin, expression: string): void {
  try {
    const filter = plugin.rule.compile(expression);
    for (const sample of odd) decide(filter, sample);
  } catch (error) {
    checkRefusal(expression, () => {
      throw error;
    });
  }
}

/** A FilterError by name: the author may test against another copy of this package. */
function checkRefusal(expression: string, refuse: () => unknown): void {
  assert.throws(refuse, (error: Error & { reason?: unknown; position?: unknown }) => {
    assert.equal(error.name, 'FilterError', `${shown(expression)} threw ${String(error)}`);
    assert.ok(typeof error.reason === 'string' && error.reason !== '', 'a FilterError has a reason');
    const { position } = error;
    assert.ok(typeof position === 'number' && position >= -1 && position <= expression.length, 'and a position, or -1');
    return true;
  });
}

const long = 'x9'.repeat(16_000);
const oddNames = ['a', 'b', 'TAGS', '__proto__', 'constructor', 'toString', '主题', '', ' '];
const oddValues = ['', ' ', '0', '-', '\u0000', '\ud800', '😀', '1e999', long, '9'.repeat(32_000), '('.repeat(32_000)];

/** Messages without anything, and with anything. */
const odd: readonly SampleMessage[] = [
  {},
  { tags: '' },
  { tags: '*' },
  ...oddValues.map((value) => ({ tags: value, properties: Object.fromEntries(oddNames.map((name) => [name, value])) })),
];

const size = 16 * 1024;

/** Deep, long and torn expressions, also from the author's own. */
function hostile(expressions: readonly string[]): string[] {
  const pieces = [
    '(',
    ')',
    "'",
    '"',
    '-',
    '- ',
    'NOT ',
    '[',
    '{',
    '|',
    '||',
    'a||',
    '*',
    '\\',
    '/*',
    '--',
    '\n',
    'a=(',
    'a=',
    '0',
    '9',
    '1.',
    '😀',
  ];
  const chains = ['a OR ', 'a=1 AND ', 'a IS NULL ', '(a', "a IN ('x',", "'x',"];
  return [
    ...['', ' ', '\0', '\ud800', '😀', '主题', '__proto__', 'constructor'],
    '('.repeat(20_000),
    `${'('.repeat(20_000)}a${')'.repeat(20_000)}`,
    ...[...pieces, ...chains].map((piece) => piece.repeat(Math.ceil(size / piece.length))),
    ...[...pieces, ...chains].map((piece) => piece.repeat(200)),
    ...expressions.flatMap((text) => [`${text}${text}`, `(${text})`, `${text}\0`, ...prefixes(text)]),
    ...expressions.map((text) => `${text} `.repeat(Math.ceil(size / (text.length + 1)))),
  ];
}

function prefixes(text: string): string[] {
  return Array.from({ length: Math.min(text.length, 64) }, (_, end) => text.slice(0, end));
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
