/** Bodies of GET_CONSUME_STATS (208) and GET_BROKER_CONSUME_STATS (317). 4.9: ConsumeStats, ConsumeStatsList. */
import type { JsonObject, JsonValue } from './json.js';
import { JavaDouble, writeJson, type WritableBean } from './json-write.js';
import { queueTableMap, readQueueTable, type QueueTable } from './message-queue.js';
import { asObject, bodyObject, list, real, tableOf, text, textKey, whole } from './shape.js';

export interface OffsetWrapper {
  readonly brokerOffset: number;
  readonly consumerOffset: number;
  /** Store time in milliseconds of the message at the consumer's offset; 0 when unknown. */
  readonly lastTimestamp: number;
}

export interface ConsumeStats {
  readonly offsetTable: QueueTable<OffsetWrapper>;
  readonly consumeTps: number;
}

export interface ConsumeStatsList {
  readonly consumeStatsList: readonly ReadonlyMap<string, readonly ConsumeStats[]>[];
  readonly brokerAddr: string;
  readonly totalDiff: number;
}

function statsBean(stats: ConsumeStats): WritableBean {
  return {
    consumeTps: new JavaDouble(stats.consumeTps),
    offsetTable: queueTableMap(stats.offsetTable, ({ brokerOffset, consumerOffset, lastTimestamp }) => ({
      brokerOffset,
      consumerOffset,
      lastTimestamp,
    })),
  };
}

function readOffset(value: JsonValue): OffsetWrapper {
  const object = asObject(value, 'offset wrapper');
  return {
    brokerOffset: whole(object, 'brokerOffset', 0),
    consumerOffset: whole(object, 'consumerOffset', 0),
    lastTimestamp: whole(object, 'lastTimestamp', 0),
  };
}

function readStats(object: JsonObject): ConsumeStats {
  return {
    offsetTable: readQueueTable(object['offsetTable'], 'offsetTable', readOffset),
    consumeTps: real(object, 'consumeTps', 0),
  };
}

export function encodeConsumeStats(stats: ConsumeStats): Buffer {
  return writeJson(statsBean(stats));
}

export function decodeConsumeStats(body: string | Uint8Array): ConsumeStats {
  return readStats(bodyObject(body, 'ConsumeStats'));
}

export function encodeConsumeStatsList(stats: ConsumeStatsList): Buffer {
  return writeJson({
    brokerAddr: stats.brokerAddr,
    consumeStatsList: stats.consumeStatsList.map(
      (groups) => new Map([...groups].map(([group, each]) => [group, each.map(statsBean)])),
    ),
    totalDiff: stats.totalDiff,
  });
}

export function decodeConsumeStatsList(body: string | Uint8Array): ConsumeStatsList {
  const object = bodyObject(body, 'ConsumeStatsList');
  const readList = (value: JsonValue, what: string): ConsumeStats[] =>
    list({ [what]: value }, what, (each) => readStats(asObject(each, what)));
  return {
    consumeStatsList: list(object, 'consumeStatsList', (value, what) => tableOf(value, what, textKey, readList)),
    brokerAddr: text(object, 'brokerAddr', ''),
    totalDiff: whole(object, 'totalDiff', 0),
  };
}
