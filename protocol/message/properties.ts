/** Message properties as one string: `name\u0001value\u0002name\u0001value`. 4.9: MessageDecoder, MessageConst. */

export const NAME_VALUE_SEPARATOR = '\u0001';
export const PROPERTY_SEPARATOR = '\u0002';
const NAME_VALUE_BYTE = 1;
const PROPERTY_BYTE = 2;

/** 4.9: MessageConst. */
export const PropertyName = {
  KEYS: 'KEYS',
  TAGS: 'TAGS',
  WAIT_STORE_MSG_OK: 'WAIT',
  DELAY_TIME_LEVEL: 'DELAY',
  RETRY_TOPIC: 'RETRY_TOPIC',
  REAL_TOPIC: 'REAL_TOPIC',
  REAL_QUEUE_ID: 'REAL_QID',
  TRANSACTION_PREPARED: 'TRAN_MSG',
  PRODUCER_GROUP: 'PGROUP',
  MIN_OFFSET: 'MIN_OFFSET',
  MAX_OFFSET: 'MAX_OFFSET',
  BUYER_ID: 'BUYER_ID',
  ORIGIN_MESSAGE_ID: 'ORIGIN_MESSAGE_ID',
  TRANSFER_FLAG: 'TRANSFER_FLAG',
  CORRECTION_FLAG: 'CORRECTION_FLAG',
  MQ2_FLAG: 'MQ2_FLAG',
  RECONSUME_TIME: 'RECONSUME_TIME',
  MSG_REGION: 'MSG_REGION',
  TRACE_SWITCH: 'TRACE_ON',
  UNIQ_KEY: 'UNIQ_KEY',
  MAX_RECONSUME_TIMES: 'MAX_RECONSUME_TIMES',
  CONSUME_START_TIMESTAMP: 'CONSUME_START_TIME',
  TRANSACTION_PREPARED_QUEUE_OFFSET: 'TRAN_PREPARED_QUEUE_OFFSET',
  TRANSACTION_CHECK_TIMES: 'TRANSACTION_CHECK_TIMES',
  CHECK_IMMUNITY_TIME_IN_SECONDS: 'CHECK_IMMUNITY_TIME_IN_SECONDS',
  INSTANCE_ID: 'INSTANCE_ID',
  CORRELATION_ID: 'CORRELATION_ID',
  MESSAGE_REPLY_TO_CLIENT: 'REPLY_TO_CLIENT',
  MESSAGE_TTL: 'TTL',
  REPLY_MESSAGE_ARRIVE_TIME: 'ARRIVE_TIME',
  PUSH_REPLY_TIME: 'PUSH_REPLY_TIME',
  CLUSTER: 'CLUSTER',
  MESSAGE_TYPE: 'MSG_TYPE',
  INNER_MULTI_DISPATCH: 'INNER_MULTI_DISPATCH',
  INNER_MULTI_QUEUE_OFFSET: 'INNER_MULTI_QUEUE_OFFSET',
  /** From here on: of RocketMQ 5. */
  TIMER_DELAY_SEC: 'TIMER_DELAY_SEC',
  TIMER_DELAY_MS: 'TIMER_DELAY_MS',
  TIMER_DELIVER_MS: 'TIMER_DELIVER_MS',
  TIMER_DEL_UNIQKEY: 'TIMER_DEL_UNIQKEY',
  /** When a stored message is due, ms; a message that has it was delivered, or waits in the topic of timers. */
  TIMER_OUT_MS: 'TIMER_OUT_MS',
} as const;

/** KEYS holds several keys, separated so. */
export const KEY_SEPARATOR = ' ';

/**
 * 4.9: MessageDecoder#string2messageProperties. An entry without separator, with an empty name or an empty value is dropped; of
 * equal names the last counts.
 */
export function parseProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const found = text.indexOf(PROPERTY_SEPARATOR, at);
    const end = found < 0 ? text.length : found;
    const middle = text.indexOf(NAME_VALUE_SEPARATOR, at);
    if (middle > at && middle < end - 1) properties.set(text.slice(at, middle), text.slice(middle + 1, end));
    at = end + 1;
  }
  return properties;
}

/** 4.9: MessageDecoder#messageProperties2String; no separator at the end. */
export function formatProperties(properties: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [name, value] of properties) {
    text += `${text === '' ? '' : PROPERTY_SEPARATOR}${name}${NAME_VALUE_SEPARATOR}${value}`;
  }
  return text;
}

/** One property, without building a map; the same value that `parseProperties` would give. */
export function propertyOf(text: string, name: string): string | undefined {
  let value: string | undefined;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const middle = at + name.length;
    if (text.charCodeAt(middle) !== NAME_VALUE_BYTE) continue;
    if (at > 0 && text.charCodeAt(at - 1) !== PROPERTY_BYTE) continue;
    const found = text.indexOf(PROPERTY_SEPARATOR, middle);
    const end = found < 0 ? text.length : found;
    if (end > middle + 1) value = text.slice(middle + 1, end);
  }
  return value;
}
