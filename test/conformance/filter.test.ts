import { filterConformance } from '../../plugins/plugin-api.js';
import sql92 from '../../plugins/filter/sql92/index.js';
import tag from '../../plugins/filter/tag/index.js';

filterConformance(
  tag,
  {
    accepted: [
      { expression: '*', matching: [{}, { tags: 'a' }], notMatching: [] },
      { expression: '', matching: [{}, { tags: 'a' }], notMatching: [] },
      { expression: 'a', matching: [{ tags: 'a' }], notMatching: [{}, { tags: 'A' }, { tags: 'a ' }] },
      {
        expression: ' 订单 || 退款😀 ',
        matching: [{ tags: '订单' }, { tags: '退款😀' }],
        notMatching: [{}, { tags: '订单 || 退款😀' }],
      },
    ],
    refused: ['||', '||||||'],
  },
  { describe, it },
);

filterConformance(
  sql92,
  {
    accepted: [
      {
        expression: "(region IN ('eu', 'us') AND price BETWEEN 1 AND 5) OR urgent = TRUE",
        matching: [{ properties: { region: 'eu', price: '5' } }, { properties: { urgent: 'true' } }],
        notMatching: [{}, { properties: { region: 'eu', price: '5.5' } }, { properties: { region: 'EU', price: '5' } }],
      },
      {
        expression: "TAGS = 'a' AND b IS NULL",
        matching: [{ tags: 'a' }],
        notMatching: [{}, { tags: 'a', properties: { b: '1' } }],
      },
    ],
    refused: ['', 'a >', "a > 'x'", 'a BETWEEN 5 AND 1', 'a > 0.0', 'a/b = 1', 'a = 9223372036854775808', 'a IN (1)'],
  },
  { describe, it },
);
