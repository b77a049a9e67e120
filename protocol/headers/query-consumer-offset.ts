/**
 * QUERY_CONSUMER_OFFSET (14), client->broker.
 *
 *   request (4.9: QueryConsumerOffsetRequestHeader)
 *     consumerGroup  string   required
 *     topic          string   required
 *     queueId        int32    required
 *     bname          string   optional
 *   response (4.9: QueryConsumerOffsetResponseHeader)
 *     offset  int64    required
 */
import { header, int, long, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader('QueryConsumerOffsetRequestHeader', {
  consumerGroup: string,
  topic: string,
  queueId: int,
});

export type QueryConsumerOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeQueryConsumerOffset = request.decode;
export const encodeQueryConsumerOffset = request.encode;

const response = header('QueryConsumerOffsetResponseHeader', {
  offset: long,
});

export type QueryConsumerOffsetResponseHeader = HeaderOf<typeof response>;
export const decodeQueryConsumerOffsetResponse = response.decode;
export const encodeQueryConsumerOffsetResponse = response.encode;
