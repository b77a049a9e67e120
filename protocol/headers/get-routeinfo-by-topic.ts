/**
 * GET_ROUTEINFO_BY_TOPIC (105), client/admin->namesrv.
 *
 *   request (4.9: GetRouteInfoRequestHeader)
 *     topic                   string   required
 *     acceptStandardJsonOnly  boolean  optional
 *   response body: TopicRouteData JSON
 */
import { header, optionalBoolean, string, type HeaderOf } from './header.js';

const request = header('namesrv.GetRouteInfoRequestHeader', {
  topic: string,
  acceptStandardJsonOnly: optionalBoolean,
});

export type GetRouteinfoByTopicRequestHeader = HeaderOf<typeof request>;
export const decodeGetRouteinfoByTopic = request.decode;
export const encodeGetRouteinfoByTopic = request.encode;
