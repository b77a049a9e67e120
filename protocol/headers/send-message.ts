/**
 * SEND_MESSAGE (10), client->broker. SEND_MESSAGE_V2 (310), SEND_BATCH_MESSAGE (320) and the reply codes share its values.
 *
 *   request (4.9: SendMessageRequestHeader)
 *     producerGroup          string   required
 *     topic                  string   required
 *     defaultTopic           string   required   template when the topic is created on first send
 *     defaultTopicQueueNums  int32    required
 *     queueId                int32    required   negative: any queue
 *     sysFlag                int32    required
 *     bornTimestamp          int64    required   milliseconds
 *     flag                   int32    required
 *     properties             string   optional
 *     reconsumeTimes         int32    optional
 *     unitMode               boolean  default false
 *     batch                  boolean  default false
 *     maxReconsumeTimes      int32    optional
 *     bname                  string   optional
 *   response (4.9: SendMessageResponseHeader; MSG_REGION and TRACE_ON are added by hand)
 *     MSG_REGION             string   optional
 *     TRACE_ON               string   optional
 *     msgId                  string   required   offset message id; comma-joined ids for a batch
 *     queueId                int32    required
 *     queueOffset            int64    required   of the first message of a batch
 *     transactionId          string   optional
 *   request body: message body bytes
 */
import {
  header,
  int,
  long,
  optionalInt,
  optionalString,
  primitiveBoolean,
  rpcHeader,
  string,
  type HeaderOf,
} from './header.js';

const request = rpcHeader('SendMessageRequestHeader', {
  producerGroup: string,
  topic: string,
  defaultTopic: string,
  defaultTopicQueueNums: int,
  queueId: int,
  sysFlag: int,
  bornTimestamp: long,
  flag: int,
  properties: optionalString,
  reconsumeTimes: optionalInt,
  unitMode: primitiveBoolean,
  batch: primitiveBoolean,
  maxReconsumeTimes: optionalInt,
});

export type SendMessageRequestHeader = HeaderOf<typeof request>;
export const decodeSendMessage = request.decode;
export const encodeSendMessage = request.encode;

const response = header(
  'SendMessageResponseHeader',
  {
    MSG_REGION: optionalString,
    TRACE_ON: optionalString,
    msgId: string,
    queueId: int,
    queueOffset: long,
    transactionId: optionalString,
  },
  { fast: true, added: ['MSG_REGION', 'TRACE_ON'] },
);

export type SendMessageResponseHeader = HeaderOf<typeof response>;
export const decodeSendMessageResponse = response.decode;
export const encodeSendMessageResponse = response.encode;
