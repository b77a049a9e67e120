import { defineFilter, FilterError } from 'mqkernel/plugin';

/**
 * A filter in plain JavaScript: `region=eu-` matches messages whose property `region` starts with `eu-`.
 *
 *     npx kernel start --plugins ./examples/filter-prefix/index.js
 *
 * `compile` runs once per subscription, `matches` once per message. Both run where the broker answers requests, so they do no
 * I/O and keep no state: the same message always gets the same answer.
 */
export default defineFilter('prefix', {
  expressionType: 'PREFIX',

  compile(expression) {
    const equals = expression.indexOf('=');
    if (equals < 0) throw new FilterError('expected name=prefix', expression.length);
    if (equals === 0) throw new FilterError('expected a property name', 0);
    const name = expression.slice(0, equals);
    const prefix = expression.slice(equals + 1);
    if (prefix === '') throw new FilterError('expected a prefix', expression.length);

    return {
      matches: (properties) => properties.get(name)?.startsWith(prefix) ?? false,
    };
  },
});
