/** Body of QUERY_CONSUME_TIME_SPAN (303). 4.9: QueryConsumeTimeSpanBody. */
import { writeJson } from './json-write.js';
import { messageQueueBean, readMessageQueue, type MessageQueue } from './message-queue.js';
import { asObject, bodyObject, list, whole } from './shape.js';

export interface QueueTimeSpan {
  readonly messageQueue: MessageQueue;
  /** All times in milliseconds since the epoch. */
  readonly minTimeStamp: number;
  readonly maxTimeStamp: number;
  readonly consumeTimeStamp: number;
  readonly delayTime: number;
}

/** Each time stands there twice, also as text in the broker's time zone. */
export function encodeConsumeTimeSpans(spans: readonly QueueTimeSpan[]): Buffer {
  return writeJson({
    consumeTimeSpanSet: spans.map((span) => ({
      consumeTimeStamp: span.consumeTimeStamp,
      consumeTimeStampStr: humanTime(span.consumeTimeStamp),
      delayTime: span.delayTime,
      maxTimeStamp: span.maxTimeStamp,
      maxTimeStampStr: humanTime(span.maxTimeStamp),
      messageQueue: messageQueueBean(span.messageQueue),
      minTimeStamp: span.minTimeStamp,
      minTimeStampStr: humanTime(span.minTimeStamp),
    })),
  });
}

export function decodeConsumeTimeSpans(body: string | Uint8Array): QueueTimeSpan[] {
  return list(bodyObject(body, 'QueryConsumeTimeSpanBody'), 'consumeTimeSpanSet', (value, what) => {
    const object = asObject(value, what);
    return {
      messageQueue: readMessageQueue(object['messageQueue'] ?? null),
      minTimeStamp: whole(object, 'minTimeStamp', 0),
      maxTimeStamp: whole(object, 'maxTimeStamp', 0),
      consumeTimeStamp: whole(object, 'consumeTimeStamp', 0),
      delayTime: whole(object, 'delayTime', 0),
    };
  });
}

/** `2023-11-14#22:13:20:000`. 4.9: UtilAll, YYYY_MM_DD_HH_MM_SS_SSS. */
function humanTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day}#${time}:${String(date.getMilliseconds()).padStart(3, '0')}`;
}
