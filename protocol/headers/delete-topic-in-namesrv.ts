/**
 * DELETE_TOPIC_IN_NAMESRV (216), admin->namesrv.
 *
 *   request (4.9: DeleteTopicFromNamesrvRequestHeader)
 *     topic        string   required
 *     clusterName  string   optional
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const request = header('namesrv.DeleteTopicFromNamesrvRequestHeader', {
  topic: string,
  clusterName: optionalString,
});

export type DeleteTopicInNamesrvRequestHeader = HeaderOf<typeof request>;
export const decodeDeleteTopicInNamesrv = request.decode;
export const encodeDeleteTopicInNamesrv = request.encode;
