/**
 * GET_EARLIEST_MSG_STORETIME (32), client/admin->broker.
 *
 *   request (4.9: GetEarliestMsgStoretimeRequestHeader)
 *     topic    string   required
 *     queueId  int32    required
 *     bname    string   optional
 *   response (4.9: GetEarliestMsgStoretimeResponseHeader)
 *     timestamp  int64    required
 */
import { header, int, long, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader('GetEarliestMsgStoretimeRequestHeader', {
  topic: string,
  queueId: int,
});

export type GetEarliestMsgStoretimeRequestHeader = HeaderOf<typeof request>;
export const decodeGetEarliestMsgStoretime = request.decode;
export const encodeGetEarliestMsgStoretime = request.encode;

const response = header('GetEarliestMsgStoretimeResponseHeader', {
  timestamp: long,
});

export type GetEarliestMsgStoretimeResponseHeader = HeaderOf<typeof response>;
export const decodeGetEarliestMsgStoretimeResponse = response.decode;
export const encodeGetEarliestMsgStoretimeResponse = response.encode;
