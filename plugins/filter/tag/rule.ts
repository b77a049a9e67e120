import { javaHash } from '../../../protocol/message/hash.js';
import { FilterError, type CompiledFilter, type FilterRule } from '../contract.js';
import { javaTrim } from '../java-trim.js';

const everything: CompiledFilter = { everything: true, matchesTagsCode: () => true };

/**
 * `*` or nothing: every message. Otherwise tags separated by `||`: messages whose ConsumeQueue entry holds the hash of one of
 * them, as a signed 32-bit number. Two tags may share a hash, so consumers compare the tags themselves once more.
 */
export const tagRule: FilterRule = {
  expressionType: 'TAG',
  compile(expression) {
    if (expression === '' || expression === '*') return everything;
    const codes = new Set(tagsOf(expression).map(javaHash));
    const [only = 0] = codes;
    if (codes.size === 1) return { matchesTagsCode: (tagsCode) => tagsCode === only };
    return { matchesTagsCode: (tagsCode) => codes.has(tagsCode) };
  },
};

/** 4.9: FilterAPI#buildSubscriptionData. Blanks alone are no tag, so they match nothing; separators alone are an error. */
function tagsOf(expression: string): string[] {
  const parts = expression.split('||');
  if (parts.every((part) => part === '')) throw new FilterError('separators without a tag', 0);
  return parts.map(javaTrim).filter((tag) => tag !== '');
}
