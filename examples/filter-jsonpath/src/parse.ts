/** A member's name or an element's index. */
export type Step = string | number;
export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=';
export type Literal = string | number | boolean | null;

export interface Condition {
  readonly operator: Operator;
  readonly literal: Literal;
}

export interface Query {
  readonly property: string;
  readonly steps: readonly Step[];
  /** Missing: the value only has to be there. */
  readonly condition: Condition | undefined;
}

const head = /\s*([^\s:]+)\s*:\s*\$/y;
const member = /\.([A-Za-z_$][\w$]*)/y;
const bracket = /\[\s*(?:(\d{1,9})|("(?:[^"\\]|\\.)*"))\s*\]/y;
const comparison = /\s*(=|!=|<=|>=|<|>)\s*/y;
const blanks = /\s*/y;

/** `property: $path`, then nothing or an operator and a JSON literal. `refuse` makes the error to be thrown. */
export function parse(text: string, refuse: (reason: string, position: number) => Error): Query {
  let at = 0;
  const next = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const match = form.exec(text);
    if (match !== null) at = form.lastIndex;
    return match;
  };
  const literalOf = (json: string, from: number): Literal => {
    try {
      const value = JSON.parse(json) as unknown;
      if (typeof value !== 'object' || value === null) return value as Literal;
    } catch {
      // Said below.
    }
    throw refuse('expected a JSON string, number, true, false or null', from);
  };

  const property = next(head)?.[1];
  if (property === undefined) throw refuse('expected a property, a colon and a path that begins with $', 0);
  const steps: Step[] = [];
  for (;;) {
    const from = at;
    const name = next(member)?.[1];
    const index = name === undefined ? next(bracket) : null;
    if (name !== undefined) steps.push(name);
    else if (index?.[1] !== undefined) steps.push(Number(index[1]));
    else if (index?.[2] !== undefined) steps.push(literalOf(index[2], from) as string);
    else break;
  }
  const operator = next(comparison)?.[1] as Operator | undefined;
  if (operator !== undefined)
    return { property, steps, condition: { operator, literal: literalOf(text.slice(at), at) } };
  next(blanks);
  if (at < text.length) throw refuse('expected .name, [0], ["name"], an operator or the end', at);
  return { property, steps, condition: undefined };
}
