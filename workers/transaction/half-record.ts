import { readInt64 } from '../../protocol/int64.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { BORN_TIMESTAMP_AT, measure, QUEUE_OFFSET_AT } from '../../protocol/message/record.js';
import { propertyOf, PropertyName } from '../../protocol/message/properties.js';
import type { HalfFacts } from './open-halves.js';

export interface FactRules {
  readonly nowMs: number;
  readonly timeoutMs: number;
}

/**
 * What the record says, or undefined when it is no half. It is due when it is as old as it asks for itself or as the broker's timeout
 * says; one that was born in the future is due at once, unless it asks for itself (4.9: TransactionalMessageServiceImpl#check).
 */
export function readFacts(record: Buffer, { nowMs, timeoutMs }: FactRules): HalfFacts | undefined {
  const { topicAt, topicBytes, propertiesAt } = measure(record, 0);
  if (record.toString('latin1', topicAt, topicAt + topicBytes) !== SystemTopic.TRANS_HALF) return undefined;
  const properties = record.toString('utf8', propertiesAt);
  const bornMs = readInt64(record, BORN_TIMESTAMP_AT);
  const own = readInt64(record, QUEUE_OFFSET_AT);
  const immunity = propertyOf(properties, PropertyName.CHECK_IMMUNITY_TIME_IN_SECONDS);
  const origin = whole(propertyOf(properties, PropertyName.TRANSACTION_PREPARED_QUEUE_OFFSET));
  return {
    origin: origin !== undefined && origin >= 0 && origin < own ? origin : own,
    group: propertyOf(properties, PropertyName.PRODUCER_GROUP) ?? '',
    checks: Math.max(0, whole(propertyOf(properties, PropertyName.TRANSACTION_CHECK_TIMES)) ?? 0),
    bornMs,
    dueMs: dueMs(immunity, bornMs, nowMs, timeoutMs),
  };
}

function dueMs(immunity: string | undefined, bornMs: number, nowMs: number, timeoutMs: number): number {
  if (immunity === undefined) return bornMs > nowMs ? 0 : bornMs + timeoutMs;
  const seconds = whole(immunity);
  return bornMs + (seconds === undefined || seconds === -1 ? timeoutMs : seconds * 1000);
}

/** 4.9: Long#parseLong. */
function whole(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d{1,18}$/.test(text) ? Number(text) : undefined;
}
