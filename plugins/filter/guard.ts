import { messageOf } from '../../kernel/base/errors.js';
import { FilterError, type CompiledFilter, type FilterRule } from './contract.js';

/** Told of each breach of the filter contract. */
export type OnFault = (problem: string) => void;

/** Compiles through a rule that may do anything; whatever goes wrong ends as FilterError. */
export function compileGuarded(rule: FilterRule, expression: string, onFault: OnFault): CompiledFilter {
  let compiled: CompiledFilter;
  try {
    compiled = rule.compile(expression);
  } catch (error) {
    // By name: a plugin may carry a FilterError class of its own copy of this package.
    if (error instanceof Error && error.name === 'FilterError') throw refusal(error);
    onFault(`compile threw ${messageOf(error)}`);
    throw new FilterError(`the filter for ${rule.expressionType} failed on this expression: ${messageOf(error)}`, -1);
  }
  const problem = problemOf(compiled);
  if (problem === undefined) return guarded(compiled, onFault);
  onFault(problem);
  throw new FilterError(`the filter for ${rule.expressionType} is broken: ${problem}`, -1);
}

function refusal(error: Error & { reason?: unknown; position?: unknown }): FilterError {
  if (error instanceof FilterError) return error;
  const position = typeof error.position === 'number' ? error.position : -1;
  return new FilterError(typeof error.reason === 'string' ? error.reason : error.message, position);
}

function problemOf(compiled: CompiledFilter): string | undefined {
  const asks = [compiled?.matchesTagsCode, compiled?.matches];
  if (asks.every((ask) => ask === undefined)) return 'compile returned neither matches nor matchesTagsCode';
  return asks.every((ask) => ask === undefined || typeof ask === 'function')
    ? undefined
    : 'compile returned something else than functions';
}

function guarded(filter: CompiledFilter, onFault: OnFault): CompiledFilter {
  const safe: { -readonly [Ask in keyof CompiledFilter]: CompiledFilter[Ask] } =
    filter.everything === true ? { everything: true } : {};
  if (filter.matchesTagsCode !== undefined) {
    safe.matchesTagsCode = (tagsCode, extension) => {
      try {
        return verdict(filter.matchesTagsCode?.(tagsCode, extension), onFault);
      } catch (error) {
        return fault(`matchesTagsCode threw ${messageOf(error)}`, onFault);
      }
    };
  }
  if (filter.matches !== undefined) {
    safe.matches = (properties) => {
      try {
        return verdict(filter.matches?.(properties), onFault);
      } catch (error) {
        return fault(`matches threw ${messageOf(error)}`, onFault);
      }
    };
  }
  return safe;
}

function verdict(answer: unknown, onFault: OnFault): boolean {
  if (answer === true || answer === false) return answer;
  // An async rule: its promise must not end the process when it rejects.
  if (answer instanceof Promise) answer.catch(() => undefined);
  return fault(`answered ${answer instanceof Promise ? 'a promise' : typeof answer} instead of true or false`, onFault);
}

function fault(problem: string, onFault: OnFault): false {
  onFault(problem);
  return false;
}
