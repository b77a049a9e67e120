/**
 * QUERY_MESSAGE (12), client/admin->broker.
 *
 *   request (4.9: QueryMessageRequestHeader)
 *     topic           string   required
 *     key             string   required
 *     maxNum          int32    required
 *     beginTimestamp  int64    required
 *     endTimestamp    int64    required
 *   response (4.9: QueryMessageResponseHeader)
 *     indexLastUpdateTimestamp  int64    required
 *     indexLastUpdatePhyoffset  int64    required
 *   response body: concatenated stored message records
 */
import { header, int, long, string, type HeaderOf } from './header.js';

const request = header('QueryMessageRequestHeader', {
  topic: string,
  key: string,
  maxNum: int,
  beginTimestamp: long,
  endTimestamp: long,
});

export type QueryMessageRequestHeader = HeaderOf<typeof request>;
export const decodeQueryMessage = request.decode;
export const encodeQueryMessage = request.encode;

const response = header('QueryMessageResponseHeader', {
  indexLastUpdateTimestamp: long,
  indexLastUpdatePhyoffset: long,
});

export type QueryMessageResponseHeader = HeaderOf<typeof response>;
export const decodeQueryMessageResponse = response.decode;
export const encodeQueryMessageResponse = response.encode;
