import type { FilterRule } from '../contract.js';
import { EvaluationError } from './java-number.js';
import { compileSql92, type Sql92Limits } from './parser.js';

/** Far beyond what people write; 4.9 has no limit but its frame and its stack. */
export const sql92Limits: Sql92Limits = { expressionLengthMax: 16 * 1024, depthMax: 500 };

/** Only true is delivered: neither what is undecided nor what cannot be evaluated (4.9: ExpressionMessageFilter). */
export function createSql92Rule(limits: Sql92Limits = sql92Limits): FilterRule {
  return {
    expressionType: 'SQL92',
    compile(expression) {
      const read = compileSql92(expression, limits);
      return {
        matches(properties) {
          try {
            return read(properties) === true;
          } catch (error) {
            if (error instanceof EvaluationError) return false;
            throw error;
          }
        },
      };
    },
  };
}

export const sql92Rule = createSql92Rule();
