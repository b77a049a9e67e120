/**
 * PULL_MESSAGE (11), client->broker.
 *
 *   request (4.9: PullMessageRequestHeader)
 *     consumerGroup         string   required
 *     topic                 string   required
 *     queueId               int32    required
 *     queueOffset           int64    required
 *     maxMsgNums            int32    required
 *     sysFlag               int32    required
 *     commitOffset          int64    required
 *     suspendTimeoutMillis  int64    required
 *     subscription          string   optional
 *     subVersion            int64    required
 *     expressionType        string   optional
 *     bname                 string   optional
 *   response (4.9: PullMessageResponseHeader)
 *     suggestWhichBrokerId  int64    required
 *     nextBeginOffset       int64    required
 *     minOffset             int64    required
 *     maxOffset             int64    required
 *   response body: concatenated stored message records
 */
import { header, int, long, optionalString, rpcHeader, string, type HeaderOf } from './header.js';

const request = rpcHeader(
  'PullMessageRequestHeader',
  {
    consumerGroup: string,
    topic: string,
    queueId: int,
    queueOffset: long,
    maxMsgNums: int,
    sysFlag: int,
    commitOffset: long,
    suspendTimeoutMillis: long,
    subscription: optionalString,
    subVersion: long,
    expressionType: optionalString,
  },
  { fast: true },
);

export type PullMessageRequestHeader = HeaderOf<typeof request>;
export const decodePullMessage = request.decode;
export const encodePullMessage = request.encode;

const response = header(
  'PullMessageResponseHeader',
  {
    suggestWhichBrokerId: long,
    nextBeginOffset: long,
    minOffset: long,
    maxOffset: long,
  },
  { fast: true },
);

export type PullMessageResponseHeader = HeaderOf<typeof response>;
export const decodePullMessageResponse = response.decode;
export const encodePullMessageResponse = response.encode;
