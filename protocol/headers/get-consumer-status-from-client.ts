/**
 * GET_CONSUMER_STATUS_FROM_CLIENT (221), broker->client.
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

export type GetConsumerStatusFromClientRequestHeader = HeaderOf<typeof request>;
export const decodeGetConsumerStatusFromClient = request.decode;
export const encodeGetConsumerStatusFromClient = request.encode;
