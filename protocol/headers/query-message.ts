/**
 * QUERY_MESSAGE (12), client/admin->broker.
 *
 *   request (4.9: QueryMessageRequestHeader; _UNIQUE_KEY_QUERY is added by hand)
 *     _UNIQUE_KEY_QUERY  boolean  optional: `key` is a unique client message id, not one of KEYS
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
import { header, int, long, optionalBoolean, string, type HeaderOf } from './header.js';

const request = header(
  'QueryMessageRequestHeader',
  {
    _UNIQUE_KEY_QUERY: optionalBoolean,
    topic: string,
    key: string,
    maxNum: int,
    beginTimestamp: long,
    endTimestamp: long,
  },
  { added: ['_UNIQUE_KEY_QUERY'] },
);

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
