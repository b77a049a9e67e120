/**
 * GET_MAX_OFFSET (30), client/admin->broker.
 *
 *   request (4.9: GetMaxOffsetRequestHeader)
 *     topic    string   required
 *     queueId  int32    required
 *     bname    string   optional
 *   response (4.9: GetMaxOffsetResponseHeader)
 *     offset  int64    required
 */
import { header, int, long, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader('GetMaxOffsetRequestHeader', {
  topic: string,
  queueId: int,
});

export type GetMaxOffsetRequestHeader = HeaderOf<typeof request>;
export const decodeGetMaxOffset = request.decode;
export const encodeGetMaxOffset = request.encode;

const response = header('GetMaxOffsetResponseHeader', {
  offset: long,
});

export type GetMaxOffsetResponseHeader = HeaderOf<typeof response>;
export const decodeGetMaxOffsetResponse = response.decode;
export const encodeGetMaxOffsetResponse = response.encode;
