/**
 * UPDATE_CONSUMER_OFFSET (15), client->broker.
 *
 *   request (4.9: UpdateConsumerOffsetRequestHeader)
 *     consumerGroup  string   required
 *     topic          string   required
 *     queueId        int32    required
 *     commitOffset   int64    required
 *     bname          string   optional
 */
import { int, long, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader('UpdateConsumerOffsetRequestHeader', {
  consumerGroup: string,
  topic: string,
  queueId: int,
  commitOffset: long,
});

export type UpdateConsumerOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeUpdateConsumerOffset = request.decode;
export const encodeUpdateConsumerOffset = request.encode;
