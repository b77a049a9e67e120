/**
 * QUERY_CONSUME_QUEUE (321), admin->broker.
 *
 *   request (4.9: QueryConsumeQueueRequestHeader)
 *     topic          string   optional
 *     queueId        int32    default 0
 *     index          int64    default 0
 *     count          int32    default 0
 *     consumerGroup  string   optional
 *   response body: QueryConsumeQueueResponseBody JSON
 */
import { header, optionalString, primitiveInt, primitiveLong, type HeaderOf } from './header.js';

const request = header('QueryConsumeQueueRequestHeader', {
  topic: optionalString,
  queueId: primitiveInt,
  index: primitiveLong,
  count: primitiveInt,
  consumerGroup: optionalString,
});

export type QueryConsumeQueueRequestHeader = HeaderOf<typeof request>;
export const decodeQueryConsumeQueue = request.decode;
export const encodeQueryConsumeQueue = request.encode;
