import assert from 'node:assert/strict';
import { KnownStrings } from '../../protocol/known-strings.js';

describe('known strings', () => {
  const strings = new KnownStrings();
  const textOf = (text: string): string => {
    const bytes = Buffer.from(`<${text}>`);
    return strings.text(bytes, 1, bytes.length - 1);
  };

  it('are what the bytes say, also when they are many, long or alike', () => {
    const texts = ['', 'a', 'b', 'ab', 'ba', '键', 'x'.repeat(128), 'x'.repeat(129), 'x'.repeat(5000)];
    for (let i = 0; i < 5000; i++) texts.push(`topic-${i}`);
    for (let turn = 0; turn < 3; turn++) for (const text of texts) assert.equal(textOf(text), text);
  });

  it('do not change with the bytes that they came from', () => {
    const bytes = Buffer.from('first');
    assert.equal(strings.text(bytes, 0, 5), 'first');
    bytes.write('other');
    assert.equal(strings.text(bytes, 0, 5), 'other');
    assert.equal(textOf('first'), 'first');
  });

  it('tell broken UTF-8 apart, as a decoder does', () => {
    for (const bytes of [Buffer.from([0xff]), Buffer.from([0xe9, 0x94]), Buffer.from([0xed, 0xa0, 0x80])])
      for (let turn = 0; turn < 2; turn++) assert.equal(strings.text(bytes, 0, bytes.length), bytes.toString('utf8'));
  });
});
