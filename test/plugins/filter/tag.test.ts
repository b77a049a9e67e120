import assert from 'node:assert/strict';
import { tagRule } from '../../../plugins/filter/tag/rule.js';

/** 84·31³ + 97·31² + 103·31 + 65, Java's "TagA".hashCode() */
const tagA = 2598919;
/** "polygenelubricants".hashCode() is the smallest int: the entry's hash is signed. */
const smallest = -2147483648;

const matches = (expression: string, tagsCode: number): boolean | undefined =>
  tagRule.compile(expression).matchesTagsCode?.(tagsCode);

describe('TAG rule', () => {
  it('takes * and nothing for everything', () => {
    for (const expression of ['*', ''])
      for (const code of [0, tagA, smallest, -1, 2 ** 30]) assert.equal(matches(expression, code), true);
  });

  it('needs the ConsumeQueue entry alone', () => {
    for (const expression of ['*', 'TagA', 'TagA || TagB'])
      assert.equal(tagRule.compile(expression).matches, undefined);
  });

  it('matches one tag by its hash', () => {
    assert.equal(matches('TagA', tagA), true);
    assert.equal(matches('TagA', tagA + 1), false);
    assert.equal(matches('TagA', 0), false, 'a message without tags has code 0');
    assert.equal(matches('polygenelubricants', smallest), true);
    assert.equal(matches('polygenelubricants', -smallest - 1), false);
  });

  it('matches each of several tags', () => {
    assert.equal(matches('TagX || TagA||TagB', tagA), true);
    assert.equal(matches('TagX || TagA||TagB', tagA + 1), true, 'TagB');
    assert.equal(matches('TagX || TagA||TagB', tagA + 2), false, 'TagC');
  });

  it('cannot tell tags of equal hash apart: the consumer does', () => {
    assert.equal(matches('Aa', 2112), true);
    assert.equal(matches('BB', 2112), true);
    assert.equal(matches('Aa || BB', 2112), true);
  });

  it('trims what Java trims', () => {
    assert.equal(matches('\t TagA \u0000\n', tagA), true);
    assert.equal(matches('\u00a0TagA', tagA), false);
    assert.equal(matches('\u2003TagA', tagA), false);
  });

  it('splits at two bars only', () => {
    assert.equal(matches('TagA|TagB', tagA), false);
    assert.equal(matches('TagX|||TagA', tagA), false, 'the third bar belongs to the tag');
    assert.equal(matches('||||TagA||', tagA), true);
  });

  it('treats * among others as a tag of that name', () => {
    assert.equal(matches('* || TagB', tagA), false);
    assert.equal(matches('* || TagB', 42), true, '"*".hashCode()');
    assert.equal(matches(' * ', tagA), false);
  });

  it('matches nothing by blanks', () => {
    for (const expression of [' ', ' || ', '\t||\n'])
      for (const code of [0, 32, tagA]) assert.equal(matches(expression, code), false);
  });

  it('refuses separators alone', () => {
    for (const expression of ['||', '||||'])
      assert.throws(() => tagRule.compile(expression), { name: 'FilterError', position: 0 });
    assert.equal(matches('|||', 124), true, 'the tag "|"');
  });
});
