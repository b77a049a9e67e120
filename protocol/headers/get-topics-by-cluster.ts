/**
 * GET_TOPICS_BY_CLUSTER (224), admin->namesrv.
 *
 *   request (4.9: GetTopicsByClusterRequestHeader)
 *     cluster  string   required
 *   response body: TopicList JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('GetTopicsByClusterRequestHeader', {
  cluster: string,
});

export type GetTopicsByClusterRequestHeader = HeaderOf<typeof request>;
export const decodeGetTopicsByCluster = request.decode;
export const encodeGetTopicsByCluster = request.encode;
