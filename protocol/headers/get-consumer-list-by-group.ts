/**
 * GET_CONSUMER_LIST_BY_GROUP (38), client->broker.
 *
 *   request (4.9: GetConsumerListByGroupRequestHeader)
 *     consumerGroup  string   required
 *   response body: GetConsumerListByGroupResponseBody JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('GetConsumerListByGroupRequestHeader', {
  consumerGroup: string,
});

export type GetConsumerListByGroupRequestHeader = HeaderOf<typeof request>;
export const decodeGetConsumerListByGroup = request.decode;
export const encodeGetConsumerListByGroup = request.encode;
