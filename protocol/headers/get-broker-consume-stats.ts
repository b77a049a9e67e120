/**
 * GET_BROKER_CONSUME_STATS (317), admin->broker.
 *
 *   request (4.9: GetConsumeStatsInBrokerHeader)
 *     isOrder  boolean  required
 *   response body: ConsumeStatsList JSON
 */
import { boolean, header, type HeaderOf } from './header.js';

const request = header('GetConsumeStatsInBrokerHeader', {
  isOrder: boolean,
});

export type GetBrokerConsumeStatsRequestHeader = HeaderOf<typeof request>;
export const decodeGetBrokerConsumeStats = request.decode;
export const encodeGetBrokerConsumeStats = request.encode;
