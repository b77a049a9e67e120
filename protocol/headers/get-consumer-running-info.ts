/**
 * GET_CONSUMER_RUNNING_INFO (307), admin->broker, broker->client.
 *
 *   request (4.9: GetConsumerRunningInfoRequestHeader)
 *     consumerGroup  string   required
 *     clientId       string   required
 *     jstackEnable   boolean  default false
 *   response body: ConsumerRunningInfo JSON
 */
import { header, primitiveBoolean, string, type HeaderOf } from './header.js';

const request = header('GetConsumerRunningInfoRequestHeader', {
  consumerGroup: string,
  clientId: string,
  jstackEnable: primitiveBoolean,
});

export type GetConsumerRunningInfoRequestHeader = HeaderOf<typeof request>;
export const decodeGetConsumerRunningInfo = request.decode;
export const encodeGetConsumerRunningInfo = request.encode;
