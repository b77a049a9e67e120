import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readJson } from '../../../protocol/bodies/json.js';
import { doubleText, JavaDouble, jsonText } from '../../../protocol/bodies/json-write.js';
import { golden } from '../../golden/load.js';

describe('protocol/bodies/json-write', () => {
  it('prints doubles as Java does', () => {
    const { doubles } = golden<{ doubles: Record<string, string> }>('records.json');
    const bits = new DataView(new ArrayBuffer(8));
    for (const [long, text] of Object.entries(doubles)) {
      bits.setBigInt64(0, BigInt(long));
      assert.equal(doubleText(bits.getFloat64(0)), text);
    }
    assert.equal(doubleText(Infinity), 'null');
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
        assert.equal(Number(doubleText(value)), value),
      ),
    );
  });

  it('sorts members of beans, keeps the order of maps and leaves out what is null', () => {
    const value = {
      b: 1,
      a: null,
      c: undefined,
      aa: new Map([
        ['z', 1],
        ['y', 2],
        ['x', null],
      ] as const),
    };
    assert.equal(jsonText(value), '{"aa":{"z":1,"y":2},"b":1}');
  });

  it('writes keys bare or, in the standard form, quoted and sorted by number', () => {
    const map = new Map([
      [10, 'a'],
      [2, 'b'],
    ]);
    assert.equal(jsonText(map), '{10:"a",2:"b"}');
    assert.equal(jsonText(map, 'standard'), '{"2":"b","10":"a"}');
    assert.equal(jsonText(new Map([[{ q: 1 }, 5]])), '{{"q":1}:5}');
  });

  it('keeps the standard form to ASCII and to numbers that JavaScript can hold', () => {
    assert.equal(jsonText(['é/\u007f', 2n ** 60n, 1], 'standard'), '["\\u00E9\\/\\u007F","1152921504606846976",1]');
    assert.equal(
      jsonText([2n ** 60n, new JavaDouble(1), true, new Set(['x'])]),
      '[1152921504606846976,1.0,true,["x"]]',
    );
  });

  it('is read back by our reader, whatever the strings', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const wellFormed = text.isWellFormed() ? text : '';
        assert.equal(readJson(jsonText(wellFormed)), wellFormed);
        assert.equal(readJson(jsonText(wellFormed, 'standard')), wellFormed);
        assert.equal(JSON.parse(jsonText(wellFormed, 'standard')), wellFormed);
      }),
    );
  });
});
