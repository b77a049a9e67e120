import assert from 'node:assert/strict';
import { bloomBits } from '../../../config/filtering.js';
import { decodeFiltersFile, encodeFiltersFile } from '../../../plugins/filter/bitmap/filters-json.js';
import { bloomPositions, hashesOf, positionsOf, setBits } from '../../../plugins/filter/bitmap/rule.js';
import { golden } from '../../golden/load.js';

interface Golden {
  /** Error rate in percent, expected filters, hashes, bits. */
  readonly sizes: readonly (readonly [number, number, number, number])[];
  readonly positions: readonly { f: number; n: number; text: string; positions: number[]; bits: string }[];
  readonly file: string;
  readonly empty: string;
}

const { sizes, positions, file, empty } = golden<Golden>('bloom.json');

function widthsOf(errorPercent: number, expected: number): [hashes: number, bits: number] {
  const options = { expectConsumerNumUseFilter: expected, maxErrorRateOfBloomFilter: errorPercent };
  return [hashesOf(errorPercent), bloomBits(options)];
}

describe('bloom filter of 4.9.7', () => {
  it('has its widths', () => {
    for (const [f, n, hashes, bits] of sizes) assert.deepEqual(widthsOf(f, n), [hashes, bits], `${f} % of ${n}`);
    assert.ok(sizes.length > 1700);
  });

  it('has its positions and bytes for texts of any length', () => {
    for (const { f, n, text, positions: expected, bits } of positions) {
      const [hashes, width] = widthsOf(f, n);
      const found = bloomPositions(text, width, hashes);
      assert.deepEqual(found, expected, `${f} % of ${n}: "${text}"`);
      const bitmap = new Uint8Array(width / 8);
      setBits(bitmap, found);
      assert.equal(Buffer.from(bitmap).toString('base64'), bits, text);
    }
    assert.ok(positions.length > 150);
  });

  it('is asked by group and topic', () => {
    assert.deepEqual(positionsOf('CID_1', 'TopicA', 112, 3), bloomPositions('CID_1#TopicA', 112, 3));
  });
});

describe('consumerFilter.json', () => {
  it('is read and written as 4.9.7 does', () => {
    const filters = decodeFiltersFile(Buffer.from(file));
    assert.deepEqual(filters.map(({ topic, group }) => `${topic} ${group}`).sort(), [
      'TopicA group_a',
      'TopicA group_b',
      'TopicB group_a',
    ]);
    const dead = filters.find(({ group }) => group === 'group_b');
    assert.deepEqual(dead, {
      topic: 'TopicA',
      group: 'group_b',
      expression: 'b IS NOT NULL',
      expressionType: 'SQL92',
      bornMs: 1900000000001,
      deadMs: 1900000000007,
      clientVersion: 1700000000002,
      bloom: { bits: 216, positions: [100, 197, 105] },
    });
    assert.equal(encodeFiltersFile(filters.map((filter) => ({ ...filter, bloom: filter.bloom! }))), file);
    assert.equal(encodeFiltersFile([]), empty);
    assert.deepEqual(decodeFiltersFile(Buffer.from(empty)), []);
  });

  it('may lack the bits, and is refused when it is none', () => {
    const [one] = decodeFiltersFile(
      Buffer.from('{"filterDataByTopic":{"T":{"groupFilterData":{"G":{"bornTime":5,"expression":"a=1"}}}}}'),
    );
    assert.equal(one?.bloom, undefined);
    assert.throws(() => decodeFiltersFile(Buffer.from('{"filterDataByTopic":{"T":{"groupFilterData":{"G":{}}}}}')), {
      message: /bornTime is not an integer/,
    });
  });
});
