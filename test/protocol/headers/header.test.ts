import assert from 'node:assert/strict';
import { Serialize } from '../../../protocol/command.js';
import { FieldError } from '../../../protocol/fields.js';
import {
  header,
  int,
  long,
  named,
  optionalInt,
  optionalString,
  primitiveBoolean,
  primitiveInt,
  primitiveLong,
  rpcHeader,
  string,
} from '../../../protocol/headers/header.js';
import { decodePullMessage, encodePullMessageResponse } from '../../../protocol/headers/pull-message.js';
import { decodeRegisterBroker } from '../../../protocol/headers/register-broker.js';
import { decodeSendMessageV2, encodeSendMessageV2 } from '../../../protocol/headers/send-message-v2.js';
import { requestHeaders } from '../../golden/header-codecs.js';

describe('protocol/headers', () => {
  const sample = header('Sample', { name: string, count: int, at: long, note: optionalString, times: optionalInt });

  it('decodes by the declared kinds and leaves out what is not there', () => {
    assert.deepEqual(sample.decode({ name: 'n', count: '-1', at: '1700000000000', other: 'x' }), {
      name: 'n',
      count: -1,
      at: 1700000000000,
    });
    assert.deepEqual(sample.decode({ name: '', count: '0', at: '0', note: 'x', times: '3' }), {
      name: '',
      count: 0,
      at: 0,
      note: 'x',
      times: 3,
    });
  });

  it('names the field that is missing or bad', () => {
    assert.throws(() => sample.decode({ count: '1', at: '1' }), new FieldError('name', 'is missing'));
    assert.throws(() => sample.decode({ name: 'n', count: 'x', at: '1' }), /count is not a 32-bit integer: "x"/);
    assert.throws(() => sample.decode({ name: 'n', count: '1', at: '1', times: '1.5' }), /times is not a 32-bit/);
  });

  it('takes primitives that are missing for their Java default and always writes them', () => {
    const primitives = header('Sample', { on: primitiveBoolean, count: primitiveInt, at: primitiveLong });
    assert.deepEqual(primitives.decode({}), { on: false, count: 0, at: 0 });
    assert.deepEqual({ ...primitives.encode({ on: false, count: 0, at: 0 }) }, { on: 'false', count: '0', at: '0' });
  });

  it('does not write what is undefined', () => {
    assert.deepEqual(
      { ...sample.encode({ name: 'n', count: 1, at: 2, note: undefined }) },
      { name: 'n', count: '1', at: '2' },
    );
  });

  it('writes fast headers as declared in the binary form, what was added last', () => {
    const fast = header('Sample', { extra: optionalString, zz: int, aa: int }, { fast: true, added: ['extra'] });
    assert.deepEqual(Object.keys(fast.encode({ extra: 'e', zz: 1, aa: 2 }, Serialize.ROCKETMQ)), ['zz', 'aa', 'extra']);
  });

  it('adds bname to what may be sent on to a broker by name', () => {
    const rpc = rpcHeader('Sample', { topic: string });
    assert.deepEqual(rpc.decode({ topic: 'T', bname: 'broker-a' }), { topic: 'T', bname: 'broker-a' });
    assert.deepEqual(rpc.names, ['topic', 'bname']);
  });

  it('names one-letter fields as people know them', () => {
    const letters = header('Sample', { a: named('producerGroup', string) });
    assert.throws(() => letters.decode({}), /producerGroup \(a\) is missing/);
  });

  it('maps the letters of a V2 send to the names of the first version and back', () => {
    const values = {
      producerGroup: 'P',
      topic: 'T',
      defaultTopic: 'TBW102',
      defaultTopicQueueNums: 4,
      queueId: 1,
      sysFlag: 0,
      bornTimestamp: 1700000000000,
      flag: 0,
      properties: 'a\u0001b',
      reconsumeTimes: 0,
      unitMode: false,
      batch: true,
      maxReconsumeTimes: 16,
      bname: 'broker-a',
    };
    const ext = encodeSendMessageV2(values);
    assert.deepEqual(Object.keys(ext).sort().join(''), 'abcdefghijklmn');
    assert.deepEqual(decodeSendMessageV2(ext), values);
  });

  it('every request header names a required field when nothing is there', () => {
    const withoutRequired = new Set(['QUERY_CONSUME_QUEUE', 'RESUME_CHECK_HALF_MESSAGE']);
    for (const [code, again] of Object.entries(requestHeaders)) {
      if (withoutRequired.has(code)) assert.equal(typeof again({}), 'object');
      else assert.throws(() => again({}), FieldError, code);
    }
  });

  it('reads what 4.9.7 makes optional', () => {
    const pull = { consumerGroup: 'G', topic: 'T', queueId: '0', queueOffset: '5', maxMsgNums: '32', sysFlag: '2' };
    const rest = { commitOffset: '0', suspendTimeoutMillis: '15000', subVersion: '0' };
    assert.equal(decodePullMessage({ ...pull, ...rest }).subscription, undefined);
    const broker = { brokerName: 'b', brokerAddr: 'x:1', clusterName: 'C', haServerAddr: 'x:2', brokerId: '0' };
    assert.deepEqual(decodeRegisterBroker(broker), { ...broker, brokerId: 0, compressed: false, bodyCrc32: 0 });
  });

  it('keeps offsets up to 2^53 exact', () => {
    const ext = encodePullMessageResponse({
      suggestWhichBrokerId: 0,
      nextBeginOffset: Number.MAX_SAFE_INTEGER,
      minOffset: 0,
      maxOffset: 2 ** 63,
    });
    assert.equal(ext['nextBeginOffset'], '9007199254740991');
    assert.equal(ext['maxOffset'], '9223372036854775807');
  });
});
