import assert from 'node:assert/strict';
import { RecordProperties } from '../../../plugins/filter/contract.js';

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

  it('serves one record after the other', () => {
    const properties = new RecordProperties();
    const [first, second] = [Buffer.from('a\u00011'), Buffer.from('xa\u00012')];
    assert.equal(properties.get('a'), undefined);
    assert.equal(properties.at(first, 0, first.length).get('a'), '1');
    assert.equal(properties.at(second, 1, second.length).get('a'), '2');
  });
});
