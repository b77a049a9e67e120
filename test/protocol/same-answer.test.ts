import assert from 'node:assert/strict';
import { encodeResponse, Serialize } from '../../protocol/command.js';
import { SameAnswer } from '../../protocol/same-answer.js';

describe('an answer that is the same each time', () => {
  for (const reply of [{ code: 0 }, { code: 0, remark: 'not set "any" response, "opaque":7' }, { code: 14, ext: {} }])
    it(`is byte for byte what is encoded one by one: ${JSON.stringify(reply)}`, () => {
      const answer = new SameAnswer(reply);
      const target = Buffer.alloc(answer.bytesMax + 5);
      for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
        for (const opaque of [0, 7, 10, 123_456, 2_147_483_647, -1, -2_147_483_648]) {
          const end = answer.write(target, 5, opaque, serialize);
          assert.ok(end <= 5 + answer.bytesMax);
          assert.equal(
            target.toString('latin1', 5, end),
            encodeResponse({ opaque, serialize }, reply).toString('latin1'),
          );
        }
    });
});
