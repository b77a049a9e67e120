/**
 * GET_CONSUME_STATS (208), admin->broker.
 *
 *   request (4.9: GetConsumeStatsRequestHeader)
 *     consumerGroup  string   required
 *     topic          string   optional
 *   response body: ConsumeStats JSON
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const request = header('GetConsumeStatsRequestHeader', {
  consumerGroup: string,
  topic: optionalString,
});

export type GetConsumeStatsRequestHeader = HeaderOf<typeof request>;
export const decodeGetConsumeStats = request.decode;
export const encodeGetConsumeStats = request.encode;
