/** What one option can be. A list is written `a,b` in files and on the command line. */
export type OptionValue = number | boolean | string | readonly string[];

export type OptionKind = 'integer' | 'boolean' | 'string' | 'choice' | 'list';

/** One option, declared once: parsing, checking, printing, the TypeScript type and the documentation come from it. */
export interface Declaration<Name extends string = string, Value extends OptionValue = OptionValue> {
  readonly name: Name;
  readonly kind: OptionKind;
  readonly default: Value;
  /** What a number counts: `ms`, `bytes`, `percent`, `messages`, … */
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  /** Why it exists and why its default is what it is. */
  readonly reason: string;
  /** Where the value comes from when nobody sets it; `default` is then a placeholder that means "not set". */
  readonly derived?: string;
  /** Set when the option is read so that RocketMQ's files load unchanged, but changes nothing here: why. */
  readonly accepted?: string;
  /** Values that would be a lie to accept, each with the reason. */
  readonly refused?: readonly Refusal[];
}

export interface Refusal {
  readonly value: OptionValue;
  readonly why: string;
}

export interface Details {
  readonly min?: number;
  readonly max?: number;
  readonly derived?: string;
  readonly accepted?: string;
  readonly refused?: readonly Refusal[];
}

/** Java's `int` and, for longs, what a double holds exactly. */
export const INT_MAX = 2_147_483_647;
export const LONG_MAX = Number.MAX_SAFE_INTEGER;

export function integer<const N extends string>(
  name: N,
  fallback: number,
  unit: string,
  reason: string,
  details: Details = {},
): Declaration<N, number> {
  return { name, kind: 'integer', default: fallback, unit, min: 0, max: INT_MAX, reason, ...details };
}

export function flag<const N extends string>(
  name: N,
  fallback: boolean,
  reason: string,
  details: Details = {},
): Declaration<N, boolean> {
  return { name, kind: 'boolean', default: fallback, reason, ...details };
}

export function text<const N extends string>(
  name: N,
  fallback: string,
  reason: string,
  details: Details = {},
): Declaration<N, string> {
  return { name, kind: 'string', default: fallback, reason, ...details };
}

export function choice<const N extends string, const C extends string>(
  name: N,
  choices: readonly C[],
  fallback: NoInfer<C>,
  reason: string,
  details: Details = {},
): Declaration<N, C> {
  return { name, kind: 'choice', choices, default: fallback, reason, ...details };
}

export function list<const N extends string>(
  name: N,
  reason: string,
  details: Details = {},
): Declaration<N, readonly string[]> {
  return { name, kind: 'list', default: [], reason, ...details };
}

/** An integer of RocketMQ's that is read and means nothing here. */
export function ignoredInteger<const N extends string>(name: N, fallback: number, why: string): Declaration<N, number> {
  return integer(name, fallback, '', 'read so that the original files load unchanged', {
    accepted: why,
    min: -INT_MAX,
  });
}

/** A boolean of RocketMQ's that is read and means nothing here. */
export function ignoredFlag<const N extends string>(name: N, fallback: boolean, why: string): Declaration<N, boolean> {
  return flag(name, fallback, 'read so that the original files load unchanged', { accepted: why });
}

/** A string of RocketMQ's that is read and means nothing here. */
export function ignoredText<const N extends string>(name: N, fallback: string, why: string): Declaration<N, string> {
  return text(name, fallback, 'read so that the original files load unchanged', { accepted: why });
}
