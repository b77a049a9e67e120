/**
 * GET_TOPIC_STATS_INFO (202), admin->broker.
 *
 *   request (4.9: GetTopicStatsInfoRequestHeader)
 *     topic  string   required
 *   response body: TopicStatsTable JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('GetTopicStatsInfoRequestHeader', {
  topic: string,
});

export type GetTopicStatsInfoRequestHeader = HeaderOf<typeof request>;
export const decodeGetTopicStatsInfo = request.decode;
export const encodeGetTopicStatsInfo = request.encode;
