/**
 * RESET_CONSUMER_CLIENT_OFFSET (220), broker->client (oneway).
 *
 *   request (4.9: ResetOffsetRequestHeader)
 *     topic      string   required
 *     group      string   required
 *     timestamp  int64    required
 *     isForce    boolean  required
 *   request body: ResetOffsetBody JSON
 */
import { boolean, header, long, string, type HeaderOf } from './header.js';

const request = header('ResetOffsetRequestHeader', {
  topic: string,
  group: string,
  timestamp: long,
  isForce: boolean,
});

export type ResetConsumerClientOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeResetConsumerClientOffset = request.decode;
export const encodeResetConsumerClientOffset = request.encode;
