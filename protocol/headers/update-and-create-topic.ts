/**
 * UPDATE_AND_CREATE_TOPIC (17), admin->broker.
 *
 *   request (4.9: CreateTopicRequestHeader)
 *     topic            string   required
 *     defaultTopic     string   required
 *     readQueueNums    int32    required
 *     writeQueueNums   int32    required
 *     perm             int32    required
 *     topicFilterType  string   required
 *     topicSysFlag     int32    optional
 *     order            boolean  required
 */
import { boolean, header, int, optionalInt, string, type HeaderOf } from './header.js';

const request = header('CreateTopicRequestHeader', {
  topic: string,
  defaultTopic: string,
  readQueueNums: int,
  writeQueueNums: int,
  perm: int,
  topicFilterType: string,
  topicSysFlag: optionalInt,
  order: boolean,
});

export type UpdateAndCreateTopicRequestHeader = HeaderOf<typeof request>;
export const decodeUpdateAndCreateTopic = request.decode;
export const encodeUpdateAndCreateTopic = request.encode;
