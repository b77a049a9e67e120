import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatProperties, parseProperties, propertyOf } from '../../../protocol/message/properties.js';
import { golden } from '../../golden/load.js';

describe('protocol/message/properties', () => {
  const { properties } = golden<{ properties: Record<string, Record<string, string>> }>('records.json');

  for (const [text, wanted] of Object.entries(properties)) {
    it(`parses ${JSON.stringify(text)} as 4.9.7 does`, () => {
      assert.deepEqual(Object.fromEntries(parseProperties(text)), wanted);
    });
  }

  it('writes no separator at the end', () => {
    assert.equal(
      formatProperties(
        new Map([
          ['a', '1'],
          ['b', '2'],
        ]),
      ),
      'a\u00011\u0002b\u00012',
    );
    assert.equal(formatProperties(new Map()), '');
  });

  const piece = fc.constantFrom('\u0001', '\u0002', 'a', 'b', 'ab', 'é', '😀');
  const anyText = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));

  it('finds one property with the value that a whole parse gives it', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('a', 'b', 'ab', 'é', 'c'), (text, name) => {
        assert.equal(propertyOf(text, name), parseProperties(text).get(name));
      }),
      { numRuns: 1000 },
    );
  });

  it('brings back any names and values without separators', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => !text.includes('\u0001') && !text.includes('\u0002'));
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word)), (pairs) => {
        const map = new Map(pairs);
        assert.deepEqual(parseProperties(formatProperties(map)), map);
      }),
    );
  });
});
