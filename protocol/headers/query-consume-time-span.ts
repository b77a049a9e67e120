/**
 * QUERY_CONSUME_TIME_SPAN (303), admin->broker.
 *
 *   request (4.9: QueryConsumeTimeSpanRequestHeader)
 *     topic  string   required
 *     group  string   required
 *   response body: QueryConsumeTimeSpanBody JSON (consumeTimeSpanSet of QueueTimeSpan)
 */
import { header, string, type HeaderOf } from './header.js';

const request = header('QueryConsumeTimeSpanRequestHeader', {
  topic: string,
  group: string,
});

export type QueryConsumeTimeSpanRequestHeader = HeaderOf<typeof request>;
export const decodeQueryConsumeTimeSpan = request.decode;
export const encodeQueryConsumeTimeSpan = request.encode;
