/**
 * CONSUME_MESSAGE_DIRECTLY (309), admin->broker, broker->client.
 *
 *   request (4.9: ConsumeMessageDirectlyResultRequestHeader)
 *     consumerGroup  string   required
 *     clientId       string   optional
 *     msgId          string   optional
 *     brokerName     string   optional
 *   request body: broker->client leg: one stored message record
 *   response body: ConsumeMessageDirectlyResult JSON
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const request = header('ConsumeMessageDirectlyResultRequestHeader', {
  consumerGroup: string,
  clientId: optionalString,
  msgId: optionalString,
  brokerName: optionalString,
});

export type ConsumeMessageDirectlyRequestHeader = HeaderOf<typeof request>;
export const decodeConsumeMessageDirectly = request.decode;
export const encodeConsumeMessageDirectly = request.encode;
