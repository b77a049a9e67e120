import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RecordProperties } from '../../../plugins/filter/contract.js';
import { parseProperties } from '../../../protocol/message/properties.js';

function read(text: string, name: string): string | undefined {
  const bytes = Buffer.from(`\u0001before\u0002${text}\u0001\u0002after\u0001x`);
  const start = 8;
  return new RecordProperties().at(bytes, start, start + Buffer.byteLength(text)).get(name);
}

describe('properties in a record', () => {
  it('finds each of several', () => {
    const text = 'a\u00011\u0002bb\u000122\u0002ccc\u0001333';
    assert.equal(read(text, 'a'), '1');
    assert.equal(read(text, 'bb'), '22');
    assert.equal(read(text, 'ccc'), '333');
  });

  it('finds nothing that is not there', () => {
    const text = 'aa\u00011\u0002ba\u00012\u0002c\u0001a\u0002a';
    for (const name of ['a', 'b', 'aaa', 'before', 'after', '', 'aa\u00011', 'c\u0001a', '\u0002ba', '__proto__'])
      assert.equal(read(text, name), undefined, JSON.stringify(name));
    assert.equal(read('', 'a'), undefined);
  });

  it('takes the last of equal names, and no empty value', () => {
    assert.equal(read('a\u00011\u0002a\u00012\u0002', 'a'), '2');
    assert.equal(read('a\u00011\u0002a\u0001\u0002', 'a'), '1');
    assert.equal(read('a\u0001\u0002b\u00012', 'a'), undefined);
    assert.equal(read('\u0001x\u0002', ''), undefined);
  });

  it('lets a value hold the name separator', () => {
    assert.equal(read('a\u0001b\u0001c\u0002', 'a'), 'b\u0001c');
  });

  it('reads UTF-8', () => {
    const text = '主题\u0001值😀\u0002é\u0001ü';
    assert.equal(read(text, '主题'), '值😀');
    assert.equal(read(text, 'é'), 'ü');
    assert.equal(read(text, '主'), undefined);
  });

  it('finds what a whole parse of the text finds, whatever the text, as often as it is asked', () => {
    const piece = fc.constantFrom('\u0001', '\u0002', 'a', 'b', 'ab', 'é', '😀', '1234567');
    const texts = fc.array(fc.array(piece, { maxLength: 20 }), { maxLength: 3 });
    const properties = new RecordProperties();
    fc.assert(
      fc.property(texts, (pieces) => {
        for (const text of pieces.map((some) => some.join(''))) {
          const bytes = Buffer.from(`a\u0001x\u0002${text}\u0002a\u0001y`);
          properties.at(bytes, 4, bytes.length - 4);
          const wanted = parseProperties(text);
          for (const name of ['a', 'b', 'ab', 'é', 'c', 'a', 'b'])
            assert.equal(properties.get(name), wanted.get(name), JSON.stringify([text, name]));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('finds each of very many', () => {
    const text = Array.from({ length: 1000 }, (_, at) => `n${at}\u0001v${at}`).join('\u0002');
    const bytes = Buffer.from(text);
    const properties = new RecordProperties().at(bytes, 0, bytes.length);
    for (const at of [999, 0, 16, 17, 500]) assert.equal(properties.get(`n${at}`), `v${at}`);
  });

  it('serves one record after the other', () => {
    const properties = new RecordProperties();
    const [first, second] = [Buffer.from('a\u00011'), Buffer.from('xa\u00012')];
    assert.equal(properties.get('a'), undefined);
    assert.equal(properties.at(first, 0, first.length).get('a'), '1');
    assert.equal(properties.at(second, 1, second.length).get('a'), '2');
  });
});
