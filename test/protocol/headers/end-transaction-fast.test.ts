import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeCommand, encodeRequest, Serialize, type ExtFields } from '../../../protocol/command.js';
import { decodeEndTransaction } from '../../../protocol/headers/end-transaction.js';
import { EndFields } from '../../../protocol/headers/end-transaction-fast.js';

const GOOD = {
  producerGroup: 'PG',
  tranStateTableOffset: '7',
  commitLogOffset: '123456789012',
  commitOrRollback: '8',
  fromTransactionCheck: 'true',
  msgId: 'U',
  transactionId: 'U',
};

function read(ext: ExtFields, serialize: Serialize, fields = new EndFields()): unknown {
  const frame = encodeRequest({ code: RequestCode.END_TRANSACTION, opaque: 1, ext, serialize });
  const request = decodeCommand(frame, 4, frame.length);
  const plainly = (): unknown => {
    const { producerGroup, tranStateTableOffset, commitLogOffset, commitOrRollback } = decodeEndTransaction(
      request.ext,
    );
    return { producerGroup, tranStateTableOffset, commitLogOffset, commitOrRollback };
  };
  const fast = (): unknown => {
    fields.read(request);
    const { producerGroup, tranStateTableOffset, commitLogOffset, commitOrRollback } = fields;
    return { producerGroup, tranStateTableOffset, commitLogOffset, commitOrRollback };
  };
  const [mine, theirs] = [fast, plainly].map((decode) => {
    try {
      return decode();
    } catch (error) {
      return String(error);
    }
  });
  assert.deepEqual(mine, theirs);
  return mine;
}

describe('header of END_TRANSACTION, read fast', () => {
  const forms = [Serialize.JSON, Serialize.ROCKETMQ];

  it('is read from the bytes in both forms', () => {
    for (const serialize of forms)
      assert.deepEqual(read(GOOD, serialize), {
        producerGroup: 'PG',
        tranStateTableOffset: 7,
        commitLogOffset: 123_456_789_012,
        commitOrRollback: 8,
      });
  });

  it('says the same as the plain decoder whatever is in it, also one after the other', () => {
    const number = fc.oneof(
      fc.integer().map(String),
      fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
      fc.constantFrom('', '+5', '08', '1x', ' 1', '999999999999999', '9999999999999999', '2147483648', 'null'),
    );
    const text = fc.oneof(fc.string(), fc.constantFrom('', 'a"b', 'a\\b', 'Gruppe-ä', '%RETRY%'));
    const fields = new EndFields();
    fc.assert(
      fc.property(
        fc.record(
          {
            producerGroup: text,
            tranStateTableOffset: number,
            commitLogOffset: number,
            commitOrRollback: number,
            fromTransactionCheck: text,
            msgId: text,
            other: text,
          },
          { requiredKeys: [] },
        ),
        fc.boolean(),
        (some, isWhole) => {
          for (const serialize of forms) read(isWhole ? { ...GOOD, ...some } : some, serialize, fields);
        },
      ),
      { numRuns: 400 },
    );
  });
});
