import { FilterError, type MessageProperties } from '../contract.js';

/** What an operand can be for a message. Null is SQL's NULL: a missing property, or a condition that cannot be decided. */
export type Value = string | number | bigint | boolean | null;

/** Decides how Java compares; known when the expression is compiled. `nothing` is always null. */
export type Type = 'text' | 'int' | 'long' | 'double' | 'boolean' | 'nothing';

export type Read = (message: MessageProperties) => Value;

/** A compiled part of an expression. */
export interface Operand {
  readonly type: Type;
  /** May throw EvaluationError: the message is not delivered then. */
  readonly read: Read;
  /** How it is named in errors. */
  readonly label: string;
  /** Levels of closures below it, so that no expression can exhaust the stack. */
  readonly height: number;
  /** The property that it is, plain. */
  readonly property?: string;
  /** Its value when it depends on no message. */
  readonly constant?: Value;
  /** A constant as written in the expression. `-5` is none: 4.9 negates when it evaluates. */
  readonly literal?: boolean;
}

export function propertyNamed(name: string): Operand {
  return { type: 'text', read: (message) => message.get(name) ?? null, label: name, height: 1, property: name };
}

export function literal(type: Type, value: Value, label: string): Operand {
  return { type, read: () => value, label, height: 1, constant: value, literal: true };
}

/** A condition: its value is true, false or null. */
export function condition(label: string, height: number, read: Read): Operand {
  return { type: 'boolean', read, label, height };
}

/** 4.9: UnaryExpression#createNegate. The negative of anything but a number is null. */
export function negative(operand: Operand): Operand {
  const label = `-${operand.label}`;
  const height = operand.height + 1;
  const { constant, read } = operand;
  if (typeof constant === 'number' || typeof constant === 'bigint') {
    const value = typeof constant === 'number' ? 0 - constant : -constant;
    return { type: operand.type, read: () => value, label, height, constant: value };
  }
  return { type: 'nothing', read: (message) => (read(message), null), label, height };
}

/** 4.9: SelectorParser#asBooleanExpression. A property alone is a condition that is never true: its value is a text. */
export function asCondition(operand: Operand, position: number): Operand {
  if (operand.type === 'boolean') return operand;
  const { property, label, height } = operand;
  if (property === undefined) throw new FilterError(`${label} is not a condition`, position);
  return condition(label, height, (message) => (message.get(property) === undefined ? null : false));
}
