/**
 * GET_MIN_OFFSET (31), client/admin->broker.
 *
 *   request (4.9: GetMinOffsetRequestHeader)
 *     topic    string   required
 *     queueId  int32    required
 *     bname    string   optional
 *   response (4.9: GetMinOffsetResponseHeader)
 *     offset  int64    required
 */
import { header, int, long, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader('GetMinOffsetRequestHeader', {
  topic: string,
  queueId: int,
});

export type GetMinOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeGetMinOffset = request.decode;
export const encodeGetMinOffset = request.encode;

const response = header('GetMinOffsetResponseHeader', {
  offset: long,
});

export type GetMinOffsetResponseHeader = HeaderOf<typeof response>;
export const decodeGetMinOffsetResponse = response.decode;
export const encodeGetMinOffsetResponse = response.encode;
