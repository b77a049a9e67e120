import { describe, it } from 'node:test';
import { filterConformance } from 'mqkernel/plugin';
import jsonpath from './index.js';

const order = { properties: { order: '{"city":"Berlin","items":[{"price":12.5}],"a b":null,"n":"5"}' } };

filterConformance(
  jsonpath,
  {
    accepted: [
      { expression: 'order: $.city = "Berlin"', matching: [order], notMatching: [{}, { properties: { order: '{' } }] },
      {
        expression: 'order:$.items[0].price >= 12.5',
        matching: [order],
        notMatching: [{ properties: { order: '[]' } }],
      },
      { expression: ' order : $["a b"] = null ', matching: [order], notMatching: [{}] },
      { expression: 'order: $.n > 4', matching: [], notMatching: [order] },
      { expression: 'order: $.items', matching: [order], notMatching: [{ properties: { order: '{"item":1}' } }] },
      { expression: 'order: $.constructor', matching: [], notMatching: [order] },
    ],
    refused: ['', 'order', 'order: city', 'order: $city', 'order: $.city =', 'order: $.city = Berlin', 'order: $[x]'],
  },
  { describe, it },
);
