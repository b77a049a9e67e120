/**
 * CONSUMER_SEND_MSG_BACK (36), client->broker.
 *
 *   request (4.9: ConsumerSendMsgBackRequestHeader)
 *     offset             int64    required
 *     group              string   required
 *     delayLevel         int32    required
 *     originMsgId        string   optional
 *     originTopic        string   optional
 *     unitMode           boolean  default false
 *     maxReconsumeTimes  int32    optional
 *     bname              string   optional
 */
import {
  int,
  long,
  optionalInt,
  optionalString,
  primitiveBoolean,
  rpcHeader,
  string,
  type HeaderOf,
} from './header.js';

const request = rpcHeader('ConsumerSendMsgBackRequestHeader', {
  offset: long,
  group: string,
  delayLevel: int,
  originMsgId: optionalString,
  originTopic: optionalString,
  unitMode: primitiveBoolean,
  maxReconsumeTimes: optionalInt,
});

export type ConsumerSendMsgBackRequestHeader = HeaderOf<typeof request>;
export const decodeConsumerSendMsgBack = request.decode;
export const encodeConsumerSendMsgBack = request.encode;
