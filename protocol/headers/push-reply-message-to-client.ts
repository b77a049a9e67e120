/**
 * PUSH_REPLY_MESSAGE_TO_CLIENT (326), broker->client.
 *
 *   request (4.9: ReplyMessageRequestHeader)
 *     producerGroup          string   required
 *     topic                  string   required
 *     defaultTopic           string   required
 *     defaultTopicQueueNums  int32    required
 *     queueId                int32    required
 *     sysFlag                int32    required
 *     bornTimestamp          int64    required
 *     flag                   int32    required
 *     properties             string   optional
 *     reconsumeTimes         int32    optional
 *     unitMode               boolean  default false
 *     bornHost               string   required
 *     storeHost              string   required
 *     storeTimestamp         int64    required
 *   request body: reply body bytes
 */
import { header, int, long, optionalInt, optionalString, primitiveBoolean, string, type HeaderOf } from './header.js';

const request = header('ReplyMessageRequestHeader', {
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
  bornHost: string,
  storeHost: string,
  storeTimestamp: long,
});

export type PushReplyMessageToClientRequestHeader = HeaderOf<typeof request>;
export const decodePushReplyMessageToClient = request.decode;
export const encodePushReplyMessageToClient = request.encode;
