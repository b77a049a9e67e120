import assert from 'node:assert/strict';
import { LanguageCode, languageName, RequestCode, ResponseCode, SysFlag, Version } from '../../protocol/codes.js';

describe('protocol/codes', () => {
  it('gives no two requests the same code', () => {
    assert.equal(new Set(Object.values(RequestCode)).size, Object.keys(RequestCode).length);
    assert.equal(new Set(Object.values(ResponseCode)).size, Object.keys(ResponseCode).length);
  });

  it('has the numbers of 4.9.7', () => {
    assert.deepEqual(
      [RequestCode.SEND_MESSAGE, RequestCode.PULL_MESSAGE, RequestCode.HEART_BEAT, RequestCode.SEND_MESSAGE_V2],
      [10, 11, 34, 310],
    );
    assert.deepEqual(
      [ResponseCode.PULL_OFFSET_MOVED, ResponseCode.CONSUMER_NOT_ONLINE, Version.V4_9_7],
      [21, 206, 407],
    );
    assert.equal(SysFlag.TRANSACTION_ROLLBACK, SysFlag.TRANSACTION_PREPARED | SysFlag.TRANSACTION_COMMIT);
  });

  it('names languages by number', () => {
    for (const [name, number] of Object.entries(LanguageCode)) assert.equal(languageName(number), name);
    assert.equal(languageName(200), 'OTHER');
  });
});
