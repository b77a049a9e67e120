import { FilterError } from '../contract.js';
import {
  compareDoubles,
  compareLongs,
  EvaluationError,
  parseJavaDouble,
  parseJavaInt,
  parseJavaLong,
} from './java-number.js';
import { and, or } from './logic.js';
import { condition, type Operand, type Type, type Value } from './operand.js';

/** Negative, zero or positive, as Java's compareTo. Gets no null. */
type Compare = (left: Value, right: Value) => number;

const booleanAgainstText = new EvaluationError('4.9 cannot compare a condition on the left with a text on the right');

/** How a text becomes what it is compared with. */
const fromText: Record<Type, (text: string) => Value> = {
  text: (text) => text,
  int: parseJavaInt,
  long: parseJavaLong,
  double: parseJavaDouble,
  boolean: (text) => text.toLowerCase() === 'true',
  nothing: () => null,
};

/** 4.9: ComparisonExpression#__compare. Chosen by the two types when the expression is compiled. */
function comparer(left: Type, right: Type): Compare {
  if (left === right) return sameTypes(left);
  if (left === 'text') {
    const [convert, compare] = [fromText[right], sameTypes(right)];
    return (text, value) => compare(convert(text as string), value);
  }
  if (right === 'text') {
    // 4.9 casts the left side where it means the right one, and fails.
    if (left === 'boolean') return () => raise(booleanAgainstText);
    const [convert, compare] = [fromText[left], sameTypes(left)];
    return (value, text) => compare(value, convert(text as string));
  }
  if (left === 'boolean' || right === 'boolean') return () => -1;
  return left === 'double' || right === 'double' ? sameTypes('double') : sameTypes('long');
}

function sameTypes(type: Type): Compare {
  if (type === 'double') return (left, right) => compareDoubles(Number(left), Number(right));
  if (type === 'int' || type === 'long') return (left, right) => compareLongs(left as bigint, right as bigint);
  return (left, right) => (left === right ? 0 : -1);
}

function raise(error: Error): never {
  throw error;
}

const orders = {
  '>': (sign: number) => sign > 0,
  '>=': (sign: number) => sign >= 0,
  '<': (sign: number) => sign < 0,
  '<=': (sign: number) => sign <= 0,
};
export type Order = keyof typeof orders;

/** `left > right` and its like: numbers, properties as numbers, nothing else. */
export function ordered(order: Order, left: Operand, right: Operand, position: number): Operand {
  refuseUnordered(order, left, position);
  refuseUnordered(order, right, position);
  const holds = orders[order];
  // Two properties: both must be numbers, whatever they are compared to elsewhere (4.9: ComparisonExpression#evaluate).
  const compare = left.type === 'text' && right.type === 'text' ? asDoubles : comparer(left.type, right.type);
  const [readLeft, readRight] = [left.read, right.read];
  return condition(order, Math.max(left.height, right.height) + 1, (message) => {
    const leftValue = readLeft(message);
    if (leftValue === null) return null;
    const rightValue = readRight(message);
    return rightValue === null ? null : holds(compare(leftValue, rightValue));
  });
}

const asDoubles: Compare = (left, right) =>
  compareDoubles(parseJavaDouble(left as string), parseJavaDouble(right as string));

/** 4.9: ComparisonExpression#checkLessThanOperand. */
function refuseUnordered(order: Order, { type, literal, label }: Operand, position: number): void {
  if (type === 'boolean' || (type === 'text' && literal)) {
    throw new FilterError(`${label} cannot be compared by ${order}, which takes numbers and properties`, position);
  }
}

/** 4.9: ComparisonExpression#createEqual. Unlike SQL: a present value does not equal a missing one, two missing ones are equal. */
export function equal(left: Operand, right: Operand, position: number): Operand {
  for (const { constant, label } of [left, right]) {
    if (constant === null) throw new FilterError(`${label} cannot be compared by = or <>, use IS NULL`, position);
  }
  if (left.literal && right.literal && left.type === 'boolean' && right.type !== 'boolean') {
    throw new FilterError(`${left.label} cannot be compared with ${right.label}`, position);
  }
  const compare = comparer(left.type, right.type);
  const [readLeft, readRight] = [left.read, right.read];
  return condition('=', Math.max(left.height, right.height) + 1, (message) => {
    const leftValue = readLeft(message);
    const rightValue = readRight(message);
    if (leftValue === null) return rightValue === null ? true : null;
    return rightValue !== null && compare(leftValue, rightValue) === 0;
  });
}

/** 4.9: ComparisonExpression#createBetween. Bounds in the wrong order are refused when both are literals. */
export function between(value: Operand, low: Operand, high: Operand, position: number): Operand {
  const within = [ordered('>=', value, low, position), ordered('<=', value, high, position)];
  if (low.literal && high.literal && comparer(high.type, low.type)(high.read(nobody), low.read(nobody)) < 0) {
    throw new FilterError(`BETWEEN ${low.label} AND ${high.label} has its bounds in the wrong order`, position);
  }
  return and(within);
}

const nobody = { get: () => undefined };

/** 4.9: ComparisonExpression#createNotBetween, which checks no order of the bounds. */
export function notBetween(value: Operand, low: Operand, high: Operand, position: number): Operand {
  return or([ordered('<', value, low, position), ordered('>', value, high, position)]);
}
