import { condition, type Operand, type Read } from './operand.js';

/** Three-valued logic (4.9: LogicExpression, UnaryExpression). Terms are conditions and are asked in order. */

/** False when one term is, even behind an undecided one; null when one is undecided. */
export function and(terms: readonly Operand[]): Operand {
  return condition('AND', tallest(terms) + 1, decide(terms, false));
}

/** True when one term is, even behind an undecided one; null when one is undecided. */
export function or(terms: readonly Operand[]): Operand {
  return condition('OR', tallest(terms) + 1, decide(terms, true));
}

/** A chain of any length is one loop, so that a long one is no deep one. */
function decide(terms: readonly Operand[], decisive: boolean): Read {
  const reads = terms.map((term) => term.read);
  return (message) => {
    let undecided = false;
    for (const read of reads) {
      const value = read(message);
      if (value === decisive) return decisive;
      if (value === null) undecided = true;
    }
    return undecided ? null : !decisive;
  };
}

export function not({ read, height }: Operand): Operand {
  return condition('NOT', height + 1, (message) => {
    const value = read(message);
    return value === null ? null : value === false;
  });
}

/** Never null itself. */
export function isNull({ read, height }: Operand): Operand {
  return condition('IS NULL', height + 1, (message) => read(message) === null);
}

/** 4.9: UnaryExpression#createInExpression. Compares texts only. */
export function oneOf(property: string, texts: ReadonlySet<string>): Operand {
  return condition('IN', 1, (message) => {
    const text = message.get(property);
    return text === undefined ? null : texts.has(text);
  });
}

function tallest(operands: readonly Operand[]): number {
  return operands.reduce((height, operand) => Math.max(height, operand.height), 0);
}
