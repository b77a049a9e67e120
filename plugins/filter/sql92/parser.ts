import { FilterError } from '../contract.js';
import { between, equal, notBetween, ordered } from './comparison.js';
import { Lexer, type Token, type TokenKind } from './lexer.js';
import { and, isNull, not, oneOf, or } from './logic.js';
import { asCondition, literal, negative, propertyNamed, type Operand, type Read } from './operand.js';

/** What one expression may cost: its compiler and its closures stay far from the end of any thread's stack. */
export interface Sql92Limits {
  readonly expressionLengthMax: number;
  /** Nested parentheses, signs and NOTs, and levels of the compiled condition. Chains of AND or OR count once. */
  readonly depthMax: number;
}

/** How tightly an operator binds. */
const level = { or: 1, and: 2, equality: 3, comparison: 4 };

const levels: Partial<Record<TokenKind, number>> = {
  OR: level.or,
  AND: level.and,
  '=': level.equality,
  '<>': level.equality,
  IS: level.equality,
  '>': level.comparison,
  '>=': level.comparison,
  '<': level.comparison,
  '<=': level.comparison,
  BETWEEN: level.comparison,
  IN: level.comparison,
  NOT: level.comparison,
};

/**
 * Compiles an expression of 4.9's grammar (SelectorParser.jj) to a function whose value for a message is true, false or null,
 * or that throws EvaluationError. As in 4.9 the first complete expression counts and the rest is not read: `a = 1 LIMIT 5`
 * is `a = 1`, and `a LIKE 'x%'` is the property `a` alone, which is never true.
 *
 *     or         := and { OR and }
 *     and        := equality { AND equality }
 *     equality   := comparison { (= | <>) comparison | IS [NOT] NULL }
 *     comparison := unary { (> | >= | < | <=) unary | [NOT] BETWEEN unary AND unary | [NOT] IN '(' string { , string } ')' }
 *     unary      := (+ | - | NOT) unary | literal | name | '(' or ')'
 */
export function compileSql92(text: string, limits: Sql92Limits): Read {
  if (text.length > limits.expressionLengthMax) {
    throw new FilterError(
      `the expression has ${text.length} characters, ${limits.expressionLengthMax} are allowed`,
      -1,
    );
  }
  return new Parser(new Lexer(text), limits.depthMax).parse();
}

class Parser {
  private depth = 0;

  constructor(
    private readonly lexer: Lexer,
    private readonly depthMax: number,
  ) {}

  parse(): Read {
    return this.condition(level.or).read;
  }

  /** Operators that bind at least as tightly as `lowest`, left to right. */
  private expression(lowest: number): Operand {
    let left = this.unary();
    let highest = level.comparison;
    for (;;) {
      const operator = this.lexer.peek();
      const binds = levels[operator.kind] ?? 0;
      // A tighter operator after a looser one (`a IS NULL > 5`) ends the expression.
      if (binds < lowest || binds > highest) return left;
      left = this.bounded(this.infix(left, operator), operator);
      highest = binds;
    }
  }

  private condition(lowest: number): Operand {
    const { position } = this.lexer.peek();
    return asCondition(this.expression(lowest), position);
  }

  private infix(left: Operand, operator: Token): Operand {
    const { kind, position } = operator;
    if (kind === 'AND') return and(this.chain(left, operator, level.equality));
    if (kind === 'OR') return or(this.chain(left, operator, level.and));
    this.lexer.take();
    switch (kind) {
      case '=':
        return equal(left, this.expression(level.comparison), position);
      case '<>':
        return not(equal(left, this.expression(level.comparison), position));
      case 'IS': {
        const negated = this.accept('NOT');
        this.expect('NULL');
        return negated ? not(isNull(left)) : isNull(left);
      }
      case '>':
      case '>=':
      case '<':
      case '<=':
        return ordered(kind, left, this.unary(), position);
      case 'BETWEEN':
        return between(left, ...this.bounds(), position);
      case 'IN':
        return this.oneOf(left, position);
      default:
        return this.negated(left, position);
    }
  }

  /** `a AND b AND c`, as one list. */
  private chain(left: Operand, operator: Token, lowest: number): Operand[] {
    const terms = [asCondition(left, operator.position)];
    while (this.accept(operator.kind)) terms.push(this.condition(lowest));
    return terms;
  }

  /** Behind NOT. */
  private negated(left: Operand, position: number): Operand {
    if (this.accept('BETWEEN')) return notBetween(left, ...this.bounds(), position);
    this.expect('IN');
    return not(this.oneOf(left, position));
  }

  private bounds(): [low: Operand, high: Operand] {
    const low = this.unary();
    this.expect('AND');
    return [low, this.unary()];
  }

  private oneOf({ property, label }: Operand, position: number): Operand {
    this.expect('(');
    const texts = new Set<string>();
    do texts.add(textOf(this.expect('string')));
    while (this.accept(','));
    this.expect(')');
    if (property === undefined) throw new FilterError(`IN takes a property, not ${label}`, position);
    return oneOf(property, texts);
  }

  private unary(): Operand {
    const token = this.lexer.take();
    if (++this.depth > this.depthMax) throw this.tooDeep(token);
    const operand = this.bounded(this.operand(token), token);
    this.depth--;
    return operand;
  }

  private operand(token: Token): Operand {
    switch (token.kind) {
      case '+':
        return this.unary();
      case '-':
        return negative(this.unary());
      case 'NOT':
        return not(asCondition(this.unary(), token.position));
      case '(': {
        const inner = this.expression(level.or);
        this.expect(')');
        return inner;
      }
      case 'name':
        return propertyNamed(token.text);
      default:
        return constant(token);
    }
  }

  private accept(kind: TokenKind): boolean {
    const found = this.lexer.peek().kind === kind;
    if (found) this.lexer.take();
    return found;
  }

  private expect(kind: TokenKind): Token {
    const token = this.lexer.take();
    if (token.kind !== kind) throw unexpected(token, kind === 'string' ? 'a string' : kind);
    return token;
  }

  private bounded(operand: Operand, token: Token): Operand {
    if (operand.height > this.depthMax) throw this.tooDeep(token);
    return operand;
  }

  private tooDeep(token: Token): FilterError {
    return new FilterError(`the expression is nested deeper than ${this.depthMax} levels`, token.position);
  }
}

function constant({ kind, text, position }: Token): Operand {
  switch (kind) {
    case 'string':
      return literal('text', textOf({ kind, text, position }), text);
    case 'integer':
      return integer(text, position);
    case 'float':
      return float(text, position);
    case 'TRUE':
    case 'FALSE':
      return literal('boolean', kind === 'TRUE', kind);
    case 'NULL':
      return literal('boolean', null, kind);
    default:
      throw unexpected({ kind, text, position }, 'a property, a literal or (');
  }
}

/** 4.9: ConstantExpression#createFromDecimal. What fits is an int, whatever its suffix says. */
function integer(text: string, position: number): Operand {
  const value = BigInt(text.replace(/[lL]$/, ''));
  if (value >= 2n ** 63n) throw new FilterError(`${text} is larger than any 64-bit integer`, position);
  const exact = value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  return literal(value < 2n ** 31n ? 'int' : 'long', exact, text);
}

/** 4.9: ConstantExpression#createFloat, which refuses 0.0 too: it is below the smallest positive double. */
function float(text: string, position: number): Operand {
  const value = Number(text);
  if (value === Infinity) throw new FilterError(`${text} is larger than any double`, position);
  if (value === 0)
    throw new FilterError(`${text} is smaller than the smallest positive double; write 0 for zero`, position);
  return literal('double', value, text);
}

/** A string without its quotes; two quotes inside stand for one. */
function textOf(token: Token): string {
  return token.text.slice(1, -1).replaceAll("''", "'");
}

function unexpected(token: Token, wanted: string): FilterError {
  const found = token.kind === 'end' ? 'the end of the expression' : token.text;
  return new FilterError(`expected ${wanted}, found ${found}`, token.position);
}
