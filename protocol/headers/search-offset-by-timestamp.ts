/**
 * SEARCH_OFFSET_BY_TIMESTAMP (29), client/admin->broker.
 *
 *   request (4.9: SearchOffsetRequestHeader)
 *     topic      string   required
 *     queueId    int32    required
 *     timestamp  int64    required
 *     bname      string   optional
 *   response (4.9: SearchOffsetResponseHeader)
 *     offset  int64    required
 */
import { header, int, long, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader('SearchOffsetRequestHeader', {
  topic: string,
  queueId: int,
  timestamp: long,
});

export type SearchOffsetByTimestampRequestHeader = HeaderOf<typeof request>;
export const decodeSearchOffsetByTimestamp = request.decode;
export const encodeSearchOffsetByTimestamp = request.encode;

const response = header('SearchOffsetResponseHeader', {
  offset: long,
});

export type SearchOffsetByTimestampResponseHeader = HeaderOf<typeof response>;
export const decodeSearchOffsetByTimestampResponse = response.decode;
export const encodeSearchOffsetByTimestampResponse = response.encode;
