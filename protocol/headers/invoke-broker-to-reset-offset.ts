/**
 * INVOKE_BROKER_TO_RESET_OFFSET (222), admin->broker.
 *
 *   request (4.9: ResetOffsetRequestHeader)
 *     topic      string   required
 *     group      string   required
 *     timestamp  int64    required
 *     isForce    boolean  required
 *   response body: ResetOffsetBody JSON
 */
import { boolean, header, long, string, type HeaderOf } from './header.js';

const request = header('ResetOffsetRequestHeader', {
  topic: string,
  group: string,
  timestamp: long,
  isForce: boolean,
});

export type InvokeBrokerToResetOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeInvokeBrokerToResetOffset = request.decode;
export const encodeInvokeBrokerToResetOffset = request.encode;
