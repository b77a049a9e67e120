/** A queue's full name, often the key of a table: fastjson then writes the whole object where a key belongs. 4.9: MessageQueue. */
import { readJson, type JsonValue } from './json.js';
import type { Writable, WritableBean, WritableMap } from './json-write.js';
import { asObject, text, whole } from './shape.js';

export interface MessageQueue {
  readonly topic: string;
  readonly brokerName: string;
  readonly queueId: number;
}

export function messageQueueBean({ topic, brokerName, queueId }: MessageQueue): WritableBean {
  return { topic, brokerName, queueId };
}

export function readMessageQueue(value: JsonValue): MessageQueue {
  const object = asObject(value, 'message queue');
  return { topic: text(object, 'topic'), brokerName: text(object, 'brokerName'), queueId: whole(object, 'queueId') };
}

/** Reads the source text of an object key. */
export function messageQueueKey(key: string): MessageQueue {
  return readMessageQueue(readJson(key));
}

/** Tables keyed by queue are lists of pairs here, since object keys have no identity. */
export type QueueTable<V> = readonly (readonly [queue: MessageQueue, value: V])[];

export function queueTableMap<V>(table: QueueTable<V>, bean: (value: V) => Writable): WritableMap {
  return new Map(table.map(([queue, value]) => [messageQueueBean(queue), bean(value)]));
}

export function readQueueTable<V>(
  value: JsonValue | undefined,
  what: string,
  read: (value: JsonValue) => V,
): [MessageQueue, V][] {
  if (value === undefined || value === null) return [];
  const members = asObject(value, what);
  return Object.keys(members).map((key) => [messageQueueKey(key), read(members[key] as JsonValue)]);
}
