import assert from 'node:assert/strict';
import { ResponseCode } from '../../../protocol/codes.js';
import { Serialize, encodeResponseHeader } from '../../../protocol/command.js';
import { PULL_ANSWER_BYTES_MAX, writePullAnswer } from '../../../protocol/headers/pull-answer-fast.js';
import { encodePullMessageResponse } from '../../../protocol/headers/pull-message.js';

describe('the fast answer to a pull', () => {
  for (const serialize of [Serialize.JSON, Serialize.ROCKETMQ])
    for (const big of [0, 1, 4_294_967_296, Number.MAX_SAFE_INTEGER])
      it(`is what the encoder writes, form ${serialize}, numbers up to ${big}`, () => {
        const fields = { suggestWhichBrokerId: 0, nextBeginOffset: big, minOffset: big, maxOffset: big };
        const to = { opaque: 2_147_483_647, serialize };
        const ext = encodePullMessageResponse(fields, serialize);
        const wanted = encodeResponseHeader(to, { code: ResponseCode.SUCCESS, remark: 'FOUND', ext }, 272);
        const target = Buffer.alloc(PULL_ANSWER_BYTES_MAX + 8, 0xee);
        const end = writePullAnswer(target, 8, to, fields, 272);
        assert.deepEqual(target.subarray(8, end), wanted);
        assert.ok(end - 8 <= PULL_ANSWER_BYTES_MAX);
      });
});
