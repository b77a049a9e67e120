/**
 * GET_CONSUMER_CONNECTION_LIST (203), admin->broker.
 *
 *   request (4.9: GetConsumerConnectionListRequestHeader)
 *     consumerGroup  string   required
 *   response body: ConsumerConnection JSON
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('GetConsumerConnectionListRequestHeader', {
  consumerGroup: string,
});

export type GetConsumerConnectionListRequestHeader = HeaderOf<typeof request>;
export const decodeGetConsumerConnectionList = request.decode;
export const encodeGetConsumerConnectionList = request.encode;
