import { defineFilter, FilterError, type CompiledFilter } from 'mqkernel/plugin';
import { parse, type Condition, type Step } from './parse.js';

/**
 * Conditions on a property that holds JSON: `order: $.address.city = "Berlin"`, `order: $.items[0].price >= 10`, or
 * `order: $.gift`, which asks only whether there is such a value.
 *
 * What has to be thought about once – the expression – is done in `compile`; `matches` runs for every message.
 */
export default defineFilter('jsonpath', {
  expressionType: 'JSONPATH',

  compile(expression): CompiledFilter {
    const { property, steps, condition } = parse(expression, (reason, position) => new FilterError(reason, position));
    return {
      matches(properties) {
        const json = properties.get(property);
        const value = json === undefined ? undefined : follow(parsed(json), steps);
        return value !== undefined && (condition === undefined || holds(value, condition));
      },
    };
  },
});

/** A property that is no JSON is no error of this filter: the message does not match. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function follow(start: unknown, steps: readonly Step[]): unknown {
  let value = start;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<Step, unknown>)[step];
  }
  return value;
}

const orders = {
  '<': (sign: number) => sign < 0,
  '<=': (sign: number) => sign <= 0,
  '>': (sign: number) => sign > 0,
  '>=': (sign: number) => sign >= 0,
};

/** Like is compared with like: `$.price > 5` does not match `"6"`. */
function holds(value: unknown, { operator, literal }: Condition): boolean {
  if (operator === '=') return value === literal;
  if (operator === '!=') return value !== literal;
  const comparable =
    (typeof value === 'number' && typeof literal === 'number') ||
    (typeof value === 'string' && typeof literal === 'string');
  return comparable && orders[operator](value < literal ? -1 : value > literal ? 1 : 0);
}
