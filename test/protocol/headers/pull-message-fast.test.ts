import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeCommand, encodeRequest, Serialize, type ExtFields, type Request } from '../../../protocol/command.js';
import { FieldError } from '../../../protocol/fields.js';
import { decodePull } from '../../../protocol/headers/pull-message-fast.js';
import {
  decodePullMessage,
  encodePullMessage,
  type PullMessageRequestHeader,
} from '../../../protocol/headers/pull-message.js';

const forms = Object.values(Serialize);

function requestOf(ext: ExtFields, serialize: Serialize): Request {
  const frame = encodeRequest({ code: RequestCode.PULL_MESSAGE, opaque: 1, ext, serialize });
  return decodeCommand(frame, 4, frame.length);
}

/** The fields that are there, or what was wrong. */
function outcome(read: () => PullMessageRequestHeader): unknown {
  try {
    return Object.fromEntries(Object.entries(read()).filter(([, value]) => value !== undefined));
  } catch (error) {
    assert.ok(error instanceof FieldError, String(error));
    return [error.field, error.message];
  }
}

function same(ext: ExtFields, form: Serialize): void {
  const fast = requestOf(ext, form);
  const slow = requestOf(ext, form);
  assert.deepEqual(
    outcome(() => decodePull(fast)),
    outcome(() => decodePullMessage(slow.ext)),
    JSON.stringify({ form, ext }),
  );
}

describe('protocol/headers/pull-message-fast', () => {
  const int = fc.oneof(fc.nat(), fc.integer({ min: -2147483648, max: 2147483647 }));
  const long = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.maxSafeInteger());
  const text = fc.oneof(
    fc.constantFrom('T', 'TopicTest', '%RETRY%group', 'a || b', '键', 'x'.repeat(128), 'x'.repeat(129)),
    fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
  );
  const maybeText = fc.option(text, { nil: undefined });
  const header = fc.record({
    consumerGroup: text,
    topic: text,
    queueId: int,
    queueOffset: long,
    maxMsgNums: int,
    sysFlag: int,
    commitOffset: long,
    suspendTimeoutMillis: long,
    subscription: maybeText,
    subVersion: long,
    expressionType: maybeText,
    bname: maybeText,
  });

  it('reads what the slow decoder reads, in both forms', () => {
    fc.assert(
      fc.property(header, fc.constantFrom(...forms), (values, form) => same(encodePullMessage(values, form), form)),
      { numRuns: 1000 },
    );
  });

  const good: PullMessageRequestHeader = {
    consumerGroup: 'G',
    topic: 'T',
    queueId: 3,
    queueOffset: 1_000_000,
    maxMsgNums: 32,
    sysFlag: 6,
    commitOffset: 999_999,
    suspendTimeoutMillis: 15_000,
    subscription: '*',
    subVersion: 1_700_000_000_000,
    expressionType: 'TAG',
    bname: 'broker-a',
  };

  it('reads the usual header without the slow decoder', () => {
    for (const form of forms) {
      const request = requestOf(encodePullMessage(good, form), form);
      Object.defineProperty(request, 'ext', { get: () => assert.fail('the fields were made') });
      assert.deepEqual(
        outcome(() => decodePull(request)),
        { ...good },
      );
    }
  });

  it('says what the slow decoder says, whatever single field is missing or broken', () => {
    const bad = ['', '-', '-1', '+1', 'x', '1.5', ' 1', '01', '2147483648', '9223372036854775808', '1'.repeat(60)];
    for (const form of forms) {
      const ext = encodePullMessage(good, form);
      for (const name of Object.keys(ext)) {
        const { [name]: _, ...without } = ext;
        same(without, form);
        for (const value of bad) same({ ...ext, [name]: value }, form);
      }
    }
  });

  it('leaves fields alone that it does not know', () => {
    const others = { queueIds: '9', topix: 'U', consumergroup: 'H', ['q'.repeat(40)]: '1', 'quoted"': 'a\\b', q: '' };
    for (const form of forms) same({ ...others, ...encodePullMessage(good, form), tail: '\u0001' }, form);
  });

  it('reads JSON of any shape', () => {
    const fields = JSON.stringify(encodePullMessage(good));
    for (const text of [
      fields,
      fields.replace(/:/g, ' : '),
      fields.replace('"32"', '32'),
      fields.replace('"T"', '"\\u0054"'),
    ]) {
      const json = Buffer.from(`{"code":11,"extFields":${text},"flag":0,"language":"JAVA","opaque":1,"version":407}`);
      const word = Buffer.alloc(4);
      word.writeInt32BE(json.length);
      const frame = Buffer.concat([word, json]);
      assert.deepEqual(
        outcome(() => decodePull(decodeCommand(frame, 0, frame.length))),
        { ...good },
        text,
      );
    }
  });
});
