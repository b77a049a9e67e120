/**
 * INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223), admin->broker.
 *
 *   request (4.9: GetConsumerStatusRequestHeader)
 *     topic       string   required
 *     group       string   required
 *     clientAddr  string   optional
 *   response body: GetConsumerStatusBody JSON
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const request = header('GetConsumerStatusRequestHeader', {
  topic: string,
  group: string,
  clientAddr: optionalString,
});

export type InvokeBrokerToGetConsumerStatusRequestHeader = HeaderOf<typeof request>;
export const decodeInvokeBrokerToGetConsumerStatus = request.decode;
export const encodeInvokeBrokerToGetConsumerStatus = request.encode;
