import assert from 'node:assert/strict';
import { editDistance, hint, nearest } from '../../config/nearest.js';

describe('config/nearest', () => {
  it('counts insertions, deletions, replacements and swaps of neighbours', () => {
    assert.equal(editDistance('kitten', 'sitting', 5), 3);
    assert.equal(editDistance('listenPort', 'listenprot', 5), 1);
    assert.equal(editDistance('abc', 'abc', 5), 0);
    assert.equal(editDistance('', 'abc', 5), 3);
  });

  it('stops counting one above the limit', () => {
    assert.equal(editDistance('aaaaaaaa', 'bbbbbbbb', 2), 3);
    assert.equal(editDistance('a', 'abcdefgh', 2), 3);
  });

  it('finds what was meant, and nothing when nothing is near', () => {
    const names = ['brokerName', 'brokerId', 'listenPort'];
    assert.equal(nearest('brokrName', names), 'brokerName');
    assert.equal(nearest('LISTENPORT', names), 'listenPort');
    assert.equal(nearest('somethingElse', names), undefined);
    assert.equal(nearest('x'.repeat(100_000), names), undefined);
  });

  it('makes a hint for an error line', () => {
    assert.equal(hint('fusd', ['fused', 'paired']), '; did you mean fused?');
    assert.equal(hint('zzz', ['fused', 'paired']), '');
  });
});
