import { SeededRandom } from '../support/seeded-random.js';

/** Seeded expressions and properties for the differential test: mostly sensible, often at an edge, sometimes rubbish. */

/** Values of properties. */
// prettier-ignore
export const texts = [
  '5', '05', '+5', '-5', '0', '-0', '1', '6', '5.0', '5.5', '.5', '5.', '-.5', '5..', '1.2.3', '5L', '5f', '5d', ' 5 ', '\u00a05', '\t5\n', '1e5', '1E-5', '1e400',
  '1e-400', '4.9e-324', '2e-324', '-0.0', '0.0', 'NaN', '-NaN', 'Infinity', '-Infinity', 'infinity', '0x1p3', '0X1.8P+1f', '0x.8p0', '0x1p-1074',
  '0x1.8p-1075', '0x1.fffffffffffff8p1023', '0x1.00000000000008p0', '0x1.000000000000080000001p0', '0x10', '0x0p0', '-0x.0p9', '2147483647', '2147483648',
  '-2147483648', '-2147483649', '3000000000', '3000000000.0', '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807',
  '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '00000000000000000000000000000012', '99999999999999999999999',
  '\u0665', '\u096b', '\uff15', '-\u09eb', '\u0be7\u0be6', '5\u0665', '\u2460', '\u00b2', '\ud835\udfd3', '1_0', '1,0', '+', '-', '.', 'e5', '5e', '5e+', '--5', '++5', '5 5',
  'x', 'y', 'X', "it's", 'a b', '主题', '😀', 'true', 'TRUE', 'tRuE', 'false', 'FALSE', 'yes', 'ｔrue', ' true', 'null', '',
];

/** Literals of expressions, broken ones among them. */
// prettier-ignore
export const literals = [
  '5', '5', '1', '0', '10', '05', '5L', '5l', '0L', '2147483647', '2147483648', '3000000000', '9007199254740993', '9223372036854775807',
  '9223372036854775808', '5.0', '5.5', '.5', '5.', '5e0', '5E+1', '1e400', '1e-400', '0.0', '4.9e-324', '2e-324', '3000000000.0', '9007199254740993.0',
  '5ee', '5E', '00.5', '1.e1', "'x'", "'5'", "'5.0'", "''", "'it''s'", "'true'", "'主题'", "'😀'", "''''", "'a b'", "'''", "'x", 'TRUE', 'false', 'NULL', 'nUlL',
];

const names = ['a', 'b', 'c', 'd', 'A', 'missing', '$x', '_y1', 'notIn', 'IS_', 'like', 'android'];
const orders = ['>', '>=', '<', '<='];
const gaps = [
  '',
  ' ',
  ' ',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\f',
  ' /* c */ ',
  '/**/',
  ' /* ** a\n* / */',
  ' -- c\n',
  '--\r\n',
];
const rubbish = [
  '#',
  '/',
  '/*',
  '--',
  "'",
  '"x"',
  ';',
  '%',
  '!=',
  '==',
  '.',
  '?',
  '😀',
  'é',
  '\v',
  '\u00a0',
  '[',
  '@',
  '\\',
  '\0',
  '{',
  '*',
];
const tails = [
  '',
  '',
  '',
  ' x',
  ' )',
  ' 5',
  " 'x''y",
  ' LIMIT 5',
  ' -- c',
  ' #',
  ' + 3',
  ' /* c',
  " LIKE 'x%'",
  ' , 1',
  ' -',
  ' \u00e9',
];

/** What the language has, each as it looks in an expression: the differential test counts how often it came to which outcome. */
export const constructs: Readonly<Record<string, RegExp>> = {
  '=': /[^<>!=]=[^=]/,
  '<>': /<>/,
  '>': />[^=]/,
  '>=': />=/,
  '<': /<[^>=]/,
  '<=': /<=/,
  BETWEEN: /\bBETWEEN\b/,
  'NOT BETWEEN': /\bNOT\s+BETWEEN\b/,
  IN: /\bIN\b/,
  'NOT IN': /\bNOT\s+IN\b/,
  'IN of five and more': /\bIN\b[^)]*(,[^)]*){4}\)/,
  'IS NULL': /\bIS\s+NULL\b/,
  'IS NOT NULL': /\bIS\s+NOT\s+NULL\b/,
  AND: /\bAND\b/i,
  OR: /\bOR\b/i,
  NOT: /\bNOT\b/,
  'a condition against TRUE or FALSE': /(=|<>)\s+(TRUE|FALSE)\b|\b(TRUE|FALSE)\s+(=|<>)/i,
  'two properties': /\b[abcd]\s*(=|<>|<|>|<=|>=)\s*[abcd]\b/,
  'a 64-bit integer': /\b(2147483648|3000000000|9007199254740993|9223372036854775807)\b[^.]/,
  'an integer with a suffix': /\b\d+[lL]\b/,
  'a decimal': /\d\.\d/,
  'an exponent': /\d[eE][+-]?\d/,
  'a negative number': /-\s*\d/,
  'a positive number': /\+\s*\d/,
  'a text': /'\w+'/,
  'a text with a quote': /'\w*''\w*'/,
  'a text beyond ASCII': /'[^']*[^ -~][^']*'/,
  'a line comment': /--[^\n]*\n/,
  'a block comment': /\/\*[^]*\*\//,
  parentheses: /\(.*\(/,
  'something behind its end': /\)\s*\)|LIMIT|LIKE/,
};

export class Sql92Generator {
  private readonly random: SeededRandom;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
  }

  expression(): string {
    const tokens = this.or(1 + this.random.below(4));
    while (this.chance(0.12)) this.disturb(tokens);
    let text = tokens.map((token) => token + this.pick(this.chance(0.2) ? gaps : [' '])).join('');
    if (this.chance(0.1)) text = text.replaceAll(' ', '');
    return this.chance(0.15) ? text + this.pick(tails) : text;
  }

  /** Properties as they stand in a record, with repeated names, empty values and broken pairs among them. */
  properties(): string {
    let stored = '';
    for (const name of ['a', 'b', 'c', 'd', 'A', '$x', '_y1', 'a']) {
      if (this.chance(0.25)) continue;
      stored += `${name}\u0001${this.pick(texts)}\u0002`;
      if (this.chance(0.05))
        stored += this.pick(['\u0002', 'a\u0002', '\u0001x\u0002', 'b\u00011\u0001c\u00015\u0002', 'aa\u00015\u0002']);
    }
    return this.chance(0.2) ? stored.slice(0, -1) : stored;
  }

  private or(depth: number): string[] {
    return this.joined(this.pick(['OR', 'or', 'oR']), 0.2, () => this.and(depth));
  }

  private and(depth: number): string[] {
    return this.joined(this.pick(['AND', 'and']), 0.25, () => this.condition(depth));
  }

  private joined(word: string, chance: number, term: () => string[]): string[] {
    const tokens = term();
    while (this.chance(chance)) tokens.push(word, ...term());
    return tokens;
  }

  private condition(depth: number): string[] {
    const not = this.chance(0.3) ? ['NOT'] : [];
    const kind = this.random.next();
    if (kind < 0.04) return this.ofTruth(depth);
    if (kind < 0.28) return [...this.number(depth), this.pick(orders), ...this.number(depth)];
    if (kind < 0.48) return [...this.value(depth), this.pick(['=', '=', '<>']), ...this.value(depth)];
    if (kind < 0.54)
      return [...this.number(depth), ...not, 'BETWEEN', ...this.number(depth), 'AND', ...this.number(depth)];
    // Bounds that are no two literals in the wrong order, which are refused.
    if (kind < 0.6) return [...this.name(), ...not, 'BETWEEN', this.pick(['-5', '0', '1.5']), 'AND', ...this.name()];
    // 4.9 keeps a list of five texts and more in a set.
    if (kind < 0.7) return [...this.name(), ...not, 'IN', '(', ...this.joined(',', 0.7, () => [this.string()]), ')'];
    if (kind < 0.8) return [...this.value(depth), 'IS', ...not, 'NULL'];
    if (kind < 0.84) return this.value(depth);
    if (kind < 0.92 && depth > 0) return ['NOT', '(', ...this.or(depth - 1), ')'];
    return depth > 0 ? ['(', ...this.or(depth - 1), ')'] : this.name();
  }

  /** A condition or a property against TRUE, FALSE or NULL, which compare by rules of their own. */
  private ofTruth(depth: number): string[] {
    const truth = this.pick(['TRUE', 'FALSE', 'true', 'False', 'NULL']);
    const other = this.chance(0.5) ? this.name() : ['(', ...this.and(Math.max(0, depth - 1)), ')'];
    const order = this.pick(['=', '=', '<>']);
    return this.chance(0.7) ? [...other, order, truth] : [truth, order, ...other];
  }

  private number(depth: number): string[] {
    if (this.chance(0.45)) return this.name();
    if (this.chance(0.1)) return this.value(depth);
    return [...this.signs(), this.pick(this.chance(0.8) ? literals.slice(0, 32) : literals)];
  }

  private value(depth: number): string[] {
    if (this.chance(0.5)) return this.name();
    if (this.chance(0.2) && depth > 0) return ['(', ...this.or(depth - 1), ')'];
    return [...this.signs(), this.pick(literals)];
  }

  private name(): string[] {
    return [...(this.chance(0.05) ? this.signs() : []), this.pick(this.chance(0.9) ? names.slice(0, 6) : names)];
  }

  private string(): string {
    return `'${this.pick(this.chance(0.5) ? ['x', 'y', '5', 'true'] : texts).replaceAll("'", "''")}'`;
  }

  private signs(): string[] {
    return this.chance(0.85) ? [] : [this.pick(['-', '-', '+', 'NOT']), ...this.signs()];
  }

  private disturb(tokens: string[]): void {
    const at = this.random.below(tokens.length + 1);
    const kind = this.random.next();
    if (kind < 0.4) tokens.splice(at, 1);
    else if (kind < 0.7)
      tokens.splice(at, 0, this.pick([...literals, ...names, 'AND', 'NOT', 'IN', 'IS', '(', ')', ',', '<', '<>']));
    else tokens.splice(at, 0, this.pick(rubbish));
  }

  private chance(share: number): boolean {
    return this.random.chance(share);
  }

  private pick(choices: readonly string[]): string {
    return choices[this.random.below(choices.length)] ?? '';
  }
}
