/**
 * QUERY_TOPIC_CONSUME_BY_WHO (300), admin->broker.
 *
 *   request (4.9: QueryTopicConsumeByWhoRequestHeader)
 *     topic  string   required
 *   response body: GroupList JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('QueryTopicConsumeByWhoRequestHeader', {
  topic: string,
});

export type QueryTopicConsumeByWhoRequestHeader = HeaderOf<typeof request>;
export const decodeQueryTopicConsumeByWho = request.decode;
export const encodeQueryTopicConsumeByWho = request.encode;
