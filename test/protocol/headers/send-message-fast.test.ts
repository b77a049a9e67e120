import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestCode } from '../../../protocol/codes.js';
import { decodeCommand, encodeRequest, Serialize, type ExtFields, type Request } from '../../../protocol/command.js';
import { FieldError } from '../../../protocol/fields.js';
import { decodeSendV2, NO_LIMIT, SendFields } from '../../../protocol/headers/send-message-fast.js';
import {
  decodeSendMessage,
  encodeSendMessage,
  type SendMessageRequestHeader,
} from '../../../protocol/headers/send-message.js';
import { decodeSendMessageV2, encodeSendMessageV2 } from '../../../protocol/headers/send-message-v2.js';
import { golden, type CapturedFrame } from '../../golden/load.js';

function requestOf(code: number, ext: ExtFields, serialize: Serialize): Request {
  const frame = encodeRequest({ code, opaque: 1, ext, serialize, body: Buffer.from('body') });
  return decodeCommand(frame, 4, frame.length);
}

/** The fields in the shape of the slow decoders. */
function valuesOf(fields: SendFields): SendMessageRequestHeader {
  const range = (start: number, end: number): string => fields.buffer.toString('utf8', start, end);
  assert.equal(range(fields.topicStart, fields.topicEnd), fields.topicText());
  assert.equal(range(fields.propertiesStart, fields.propertiesEnd), fields.propertiesText());
  assert.equal(range(fields.producerGroupStart, fields.producerGroupEnd), fields.producerGroupText());
  assert.equal(range(fields.defaultTopicStart, fields.defaultTopicEnd), fields.defaultTopicText());
  return {
    producerGroup: fields.producerGroupText(),
    topic: fields.topicText(),
    defaultTopic: fields.defaultTopicText(),
    defaultTopicQueueNums: fields.defaultTopicQueueNums,
    queueId: fields.queueId,
    sysFlag: fields.sysFlag,
    bornTimestamp: fields.bornTimestamp,
    flag: fields.flag,
    properties: fields.propertiesText(),
    reconsumeTimes: fields.reconsumeTimes,
    unitMode: fields.unitMode,
    batch: fields.batch,
    maxReconsumeTimes: fields.maxReconsumeTimes,
  };
}

/** What the slow decoders leave undefined, in the terms of the struct. */
function filled(values: SendMessageRequestHeader): SendMessageRequestHeader {
  const { bname: _, ...rest } = values;
  return {
    ...rest,
    properties: values.properties ?? '',
    reconsumeTimes: values.reconsumeTimes ?? 0,
    maxReconsumeTimes: values.maxReconsumeTimes ?? NO_LIMIT,
  };
}

const isLong = (code: number): boolean => code === RequestCode.SEND_MESSAGE || code === RequestCode.SEND_REPLY_MESSAGE;
const slow = (request: Request): SendMessageRequestHeader =>
  isLong(request.code) ? decodeSendMessage(request.ext) : decodeSendMessageV2(request.ext);

const codes = [
  RequestCode.SEND_MESSAGE,
  RequestCode.SEND_MESSAGE_V2,
  RequestCode.SEND_BATCH_MESSAGE,
  RequestCode.SEND_REPLY_MESSAGE,
  RequestCode.SEND_REPLY_MESSAGE_V2,
];

describe('protocol/headers/send-message-fast', () => {
  const int = fc.integer({ min: -2147483648, max: 2147483647 });
  const text = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' });
  const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
  const header = fc.record({
    producerGroup: text,
    topic: text,
    defaultTopic: text,
    defaultTopicQueueNums: int,
    queueId: int,
    sysFlag: int,
    bornTimestamp: fc.maxSafeInteger(),
    flag: int,
    properties: maybe(text),
    reconsumeTimes: maybe(int),
    unitMode: fc.boolean(),
    batch: fc.boolean(),
    maxReconsumeTimes: maybe(int),
    bname: maybe(text),
  });

  it('reads what the slow decoders read, in both forms, from one struct used again and again', () => {
    const fields = new SendFields();
    fc.assert(
      fc.property(
        header,
        fc.constantFrom(...codes),
        fc.constantFrom(...Object.values(Serialize)),
        (values, code, form) => {
          const ext = isLong(code) ? encodeSendMessage(values, form) : encodeSendMessageV2(values, form);
          const request = requestOf(code, ext, form);
          decodeSendV2(request, fields);
          assert.deepEqual(valuesOf(fields), filled(slow(request)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('throws what the slow decoders throw, whatever single field is broken', () => {
    const good: SendMessageRequestHeader = {
      producerGroup: 'P',
      topic: 'T',
      defaultTopic: 'TBW102',
      defaultTopicQueueNums: 4,
      queueId: 0,
      sysFlag: 0,
      bornTimestamp: 1700000000000,
      flag: 0,
      properties: 'a\u0001b',
      reconsumeTimes: 0,
      unitMode: false,
      batch: false,
      maxReconsumeTimes: 16,
    };
    const bad = [
      '',
      '-',
      'x',
      '1.5',
      ' 1',
      '2147483648',
      '9223372036854775808',
      '99999999999999999999',
      '1'.repeat(60),
    ];
    for (const code of codes) {
      for (const form of Object.values(Serialize)) {
        const ext = isLong(code) ? encodeSendMessage(good) : encodeSendMessageV2(good);
        for (const name of Object.keys(ext)) {
          const { [name]: _, ...without } = ext;
          for (const broken of [without, ...bad.map((value) => ({ ...ext, [name]: value }))]) {
            sameOutcome(requestOf(code, broken, form));
          }
        }
      }
    }
  });

  function sameOutcome(request: Request): void {
    const outcome = (read: () => SendMessageRequestHeader): unknown => {
      try {
        return read();
      } catch (error) {
        assert.ok(error instanceof FieldError, String(error));
        return [error.field, error.message];
      }
    };
    const fast = outcome(() => {
      const fields = new SendFields();
      decodeSendV2(request, fields);
      return valuesOf(fields);
    });
    assert.deepEqual(
      fast,
      outcome(() => filled(slow(request))),
      JSON.stringify(request.ext),
    );
  }

  it('reads a JSON header that only JSON.parse understands, and unescapes what Java escaped', () => {
    const required =
      '"a":"P","b":"\\u4e3b\\ud83d\\ude00\\ud800","c":"\\u0044","d":"1","e":"\\u0032","f":"3","g":"4","h":"5"';
    const rest = '"i":"k\\u0001v\\u007F\\b\\f\\n\\r\\t\\/\\\\\\"","zz":"x\\"","k":"\\u0054RUE"';
    for (const space of ['', ' ']) {
      const header = Buffer.from(`${space}{"code":310,"extFields":{${required},${rest}}}`);
      const word = Buffer.alloc(4);
      word.writeInt32BE(header.length);
      const request = decodeCommand(Buffer.concat([word, header]), 0, 4 + header.length);
      assert.equal(request.jsonExtEnd > 0, space === '');
      const fields = new SendFields();
      decodeSendV2(request, fields);
      assert.deepEqual(
        [fields.topicText(), fields.defaultTopicText(), fields.queueId, fields.unitMode, fields.propertiesText()],
        [space === '' ? '主😀\ufffd' : '主😀\ud800', 'D', 2, true, 'k\u0001v\u007f\b\f\n\r\t/\\"'],
      );
      assert.equal(fields.buffer.toString('utf8', fields.topicStart, fields.topicEnd), '主😀\ufffd');
    }
  });

  it('keeps ranges in the request itself for a binary header, and copies nothing', () => {
    const request = requestOf(
      310,
      encodeSendMessageV2(
        decodeSendMessageV2({ a: 'P', b: 'T', c: 'D', d: '1', e: '2', f: '3', g: '4', h: '5', i: 'k\u0001v' }),
      ),
      Serialize.ROCKETMQ,
    );
    const fields = new SendFields();
    decodeSendV2(request, fields);
    assert.equal(fields.buffer, request.buffer);
    assert.equal(request.buffer.toString('utf8', fields.propertiesStart, fields.propertiesEnd), 'k\u0001v');
  });

  it('leaves nothing of the last header behind', () => {
    const fields = new SendFields();
    const required = { a: 'P', b: 'T', c: 'D', d: '1', e: '2', f: '3', g: '4', h: '5' };
    for (const form of Object.values(Serialize)) {
      const all = requestOf(310, { ...required, i: 'k\u0001v', j: '7', k: 'true', l: '8', m: 'true' }, form);
      decodeSendV2(all, fields);
      assert.deepEqual([fields.propertiesText(), fields.reconsumeTimes, fields.maxReconsumeTimes], ['k\u0001v', 7, 8]);
      decodeSendV2(requestOf(310, { ...required, b: 'other' }, form), fields);
      assert.deepEqual(
        [
          fields.topicText(),
          fields.propertiesText(),
          fields.reconsumeTimes,
          fields.maxReconsumeTimes,
          fields.unitMode,
          fields.batch,
        ],
        ['other', '', 0, NO_LIMIT, false, false],
      );
      assert.equal(fields.propertiesEnd - fields.propertiesStart, 0);
    }
  });

  it('reads the sends of the real client', () => {
    const sends = golden<CapturedFrame[]>('frames.json').filter(
      ({ kind, code }) => kind === 'request' && (codes as readonly number[]).includes(code),
    );
    assert.ok(sends.length >= 6);
    for (const { hex } of sends) {
      const frame = Buffer.from(hex, 'hex');
      const request = decodeCommand(frame, 4, frame.length);
      const fields = new SendFields();
      decodeSendV2(request, fields);
      assert.deepEqual(valuesOf(fields), filled(slow(request)));
    }
  });
});
