/**
 * UNREGISTER_CLIENT (35), client->broker.
 *
 *   request (4.9: UnregisterClientRequestHeader)
 *     clientID       string   required
 *     producerGroup  string   optional
 *     consumerGroup  string   optional
 */
import { header, optionalString, string, type HeaderOf } from './header.js';

const request = header('UnregisterClientRequestHeader', {
  clientID: string,
  producerGroup: optionalString,
  consumerGroup: optionalString,
});

export type UnregisterClientRequestHeader = HeaderOf<typeof request>;
export const decodeUnregisterClient = request.decode;
export const encodeUnregisterClient = request.encode;
