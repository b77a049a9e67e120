import assert from 'node:assert/strict';
import { decodePropertiesText, encodePropertiesText } from '../../../protocol/bodies/properties-text.js';
import { ProtocolError } from '../../../protocol/errors.js';

describe('protocol/bodies/properties-text', () => {
  it('writes one line per setting', () => {
    assert.equal(
      encodePropertiesText(
        new Map([
          ['a', '1'],
          ['b', 'x=y'],
        ]),
      ).toString(),
      'a=1\nb=x=y\n',
    );
  });

  it('reads what java.util.Properties reads', () => {
    const text = [
      '# a comment',
      '! another',
      '',
      'plain=value',
      '  spaced \t= \t value with spaces ',
      'colon:value',
      'blank value',
      'nothing',
      'long=one,\\',
      '    two,\\',
      '    three',
      'esc\\=aped\\ name=tab\\tand\\u4e3b\\\\',
      'windows=C:\\\\x\r',
      'even=x\\\\',
      'twice=1',
      'twice=2',
    ].join('\n');
    assert.deepEqual(Object.fromEntries(decodePropertiesText(Buffer.from(text))), {
      plain: 'value',
      spaced: 'value with spaces ',
      colon: 'value',
      blank: 'value',
      nothing: '',
      long: 'one,two,three',
      'esc=aped name': 'tab\tand主\\',
      windows: 'C:\\x',
      even: 'x\\',
      twice: '2',
    });
  });

  it('refuses a broken escape', () => {
    assert.throws(() => decodePropertiesText('a=\\u12'), ProtocolError);
  });
});
