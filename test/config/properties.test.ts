import assert from 'node:assert/strict';
import { decodeProperties, parseProperties, PropertiesError } from '../../config/properties.js';

function pairs(content: string): [string, string][] {
  return parseProperties(content).map(({ key, value }) => [key, value]);
}

describe('config/properties', () => {
  it('takes =, : and blanks as separators, with blanks around them', () => {
    assert.deepEqual(pairs('a=1\nb:2\nc 3\n  d  =  4\n\te\t:\t5\nf = = 6\ng'), [
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
      ['d', '4'],
      ['e', '5'],
      ['f', '= 6'],
      ['g', ''],
    ]);
  });

  it('skips comments and empty lines, and keeps blanks at the end of a value', () => {
    assert.deepEqual(pairs('# a=1\n! b=2\n\n   \t\n  # c=3\nd=#4 \n'), [['d', '#4 ']]);
  });

  it('does not continue a comment, as Java does not', () => {
    assert.deepEqual(pairs('# comment \\\na=1'), [['a', '1']]);
  });

  it('continues a line after an odd number of backslashes only', () => {
    assert.deepEqual(pairs('a=1,\\\n    2,\\\r\n3\nb=x\\\\\nc=y'), [
      ['a', '1,2,3'],
      ['b', 'x\\'],
      ['c', 'y'],
    ]);
    assert.deepEqual(pairs('a=1\\'), [['a', '1']]);
  });

  it('takes a backslash alone for an empty line, as Java does', () => {
    assert.deepEqual(pairs('\\\n! no\n\\\n\na=1'), [['a', '1']]);
  });

  it('reads escapes in keys and values', () => {
    assert.deepEqual(pairs('a\\ b\\=c\\:d=\\t\\n\\r\\f\\q\\u4e2d\\u0041'), [['a b=c:d', '\t\n\r\fq中A']]);
  });

  it('keeps every entry in order with the line on which it begins', () => {
    assert.deepEqual(parseProperties('\na=1\\\n2\na=3'), [
      { key: 'a', value: '12', line: 2 },
      { key: 'a', value: '3', line: 4 },
    ]);
  });

  it('takes all three line ends and a byte order mark', () => {
    assert.deepEqual(pairs('\uFEFFa=1\r\nb=2\rc=3'), [
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
  });

  it('names the line of a broken unicode escape', () => {
    assert.throws(
      () => parseProperties('a=1\nb=\\u12'),
      (error: unknown) => error instanceof PropertiesError && error.line === 2 && error.message.includes('\\u12'),
    );
  });

  it('decodes UTF-8, and ISO-8859-1 when it is not UTF-8', () => {
    assert.equal(decodeProperties(Buffer.from('a=é中')), 'a=é中');
    assert.equal(decodeProperties(Buffer.from([0x61, 0x3d, 0xe9])), 'a=é');
  });
});
