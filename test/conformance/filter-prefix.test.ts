import assert from 'node:assert/strict';
import { loadFilterPlugin } from '../../plugins/filter/load.js';
import { filterConformance, type FilterPlugin } from '../../plugins/plugin-api.js';

/** The example in plain JavaScript, loaded as `--plugins` loads it. */
const prefix: FilterPlugin = await loadFilterPlugin('./examples/filter-prefix/index.js');

describe('example filter-prefix', () => {
  it('is called prefix', () => assert.equal(prefix.name, 'prefix'));
});

filterConformance(
  prefix,
  {
    accepted: [
      {
        expression: 'region=eu-',
        matching: [{ properties: { region: 'eu-west' } }, { properties: { region: 'eu-' } }],
        notMatching: [{}, { properties: { region: 'eu' } }, { properties: { region: 'us-eu-' } }],
      },
      { expression: 'a==', matching: [{ properties: { a: '=b' } }], notMatching: [{ properties: { a: 'b' } }] },
    ],
    refused: ['', 'region', '=eu', 'region='],
  },
  { describe, it },
);
