/**
 * SEND_MESSAGE_V2 (310), client->broker: SEND_MESSAGE with one letter per field; the 4.x Java client's default.
 *
 *   request (4.9: SendMessageRequestHeaderV2)
 *     a  producerGroup          string   required
 *     b  topic                  string   required
 *     c  defaultTopic           string   required
 *     d  defaultTopicQueueNums  int32    required
 *     e  queueId                int32    required
 *     f  sysFlag                int32    required
 *     g  bornTimestamp          int64    required
 *     h  flag                   int32    required
 *     i  properties             string   optional
 *     j  reconsumeTimes         int32    optional
 *     k  unitMode               boolean  default false
 *     l  maxReconsumeTimes      int32    optional
 *     m  batch                  boolean  default false
 *     n  bname                  string   optional
 *   response: as SEND_MESSAGE
 *   request body: message body bytes
 */
import type { ExtFields, Serialize } from '../command.js';
import { int, long, named, optionalInt, optionalString, primitiveBoolean, rpcHeader, string } from './header.js';
import type { SendMessageRequestHeader } from './send-message.js';

const request = rpcHeader(
  'SendMessageRequestHeaderV2',
  {
    a: named('producerGroup', string),
    b: named('topic', string),
    c: named('defaultTopic', string),
    d: named('defaultTopicQueueNums', int),
    e: named('queueId', int),
    f: named('sysFlag', int),
    g: named('bornTimestamp', long),
    h: named('flag', int),
    i: optionalString,
    j: named('reconsumeTimes', optionalInt),
    k: primitiveBoolean,
    l: named('maxReconsumeTimes', optionalInt),
    m: primitiveBoolean,
    n: optionalString,
  },
  { fast: true },
);

export type { SendMessageRequestHeader, SendMessageResponseHeader } from './send-message.js';
export { decodeSendMessageResponse as decodeSendMessageV2Response } from './send-message.js';
export { encodeSendMessageResponse as encodeSendMessageV2Response } from './send-message.js';

export function decodeSendMessageV2(ext: ExtFields): SendMessageRequestHeader {
  const v2 = request.decode(ext);
  return {
    producerGroup: v2.a,
    topic: v2.b,
    defaultTopic: v2.c,
    defaultTopicQueueNums: v2.d,
    queueId: v2.e,
    sysFlag: v2.f,
    bornTimestamp: v2.g,
    flag: v2.h,
    properties: v2.i,
    reconsumeTimes: v2.j,
    unitMode: v2.k,
    maxReconsumeTimes: v2.l,
    batch: v2.m,
    bname: v2.n,
  };
}

export function encodeSendMessageV2(values: SendMessageRequestHeader, serialize?: Serialize): ExtFields {
  return request.encode(
    {
      a: values.producerGroup,
      b: values.topic,
      c: values.defaultTopic,
      d: values.defaultTopicQueueNums,
      e: values.queueId,
      f: values.sysFlag,
      g: values.bornTimestamp,
      h: values.flag,
      i: values.properties,
      j: values.reconsumeTimes,
      k: values.unitMode,
      l: values.maxReconsumeTimes,
      m: values.batch,
      n: values.bname,
    },
    serialize,
  );
}
