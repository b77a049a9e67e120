/** Bodies of 220, 222, 221, 223 and 308: offsets by queue. 4.9: ResetOffsetBody, ResetOffsetBodyForC, GetConsumerStatusBody, QueryCorrectionOffsetBody. */
import type { JsonValue } from './json.js';
import { writeJson } from './json-write.js';
import {
  queueTableMap,
  readMessageQueue,
  readQueueTable,
  type MessageQueue,
  type QueueTable,
} from './message-queue.js';
import { asObject, bodyObject, list, table, textKey, whole, wholeKey, wholeValue } from './shape.js';

export type QueueOffsets = QueueTable<number>;

export interface ResetOffsetBody {
  readonly offsetTable: QueueOffsets;
}

export interface GetConsumerStatusBody {
  readonly messageQueueTable: QueueOffsets;
  /** By client id. */
  readonly consumerTable: ReadonlyMap<string, QueueOffsets>;
}

function offsetsMap(offsets: QueueOffsets): ReturnType<typeof queueTableMap> {
  return queueTableMap(offsets, (offset) => offset);
}

function readOffsets(value: JsonValue | undefined, what: string): [MessageQueue, number][] {
  return readQueueTable(value, what, (offset) => wholeValue(offset, what));
}

export function encodeResetOffsetBody({ offsetTable }: ResetOffsetBody): Buffer {
  return writeJson({ offsetTable: offsetsMap(offsetTable) });
}

/** For C++ clients, which cannot read objects as keys. */
export function encodeResetOffsetBodyForC({ offsetTable }: ResetOffsetBody): Buffer {
  return writeJson({
    offsetTable: offsetTable.map(([{ brokerName, queueId, topic }, offset]) => ({
      brokerName,
      offset,
      queueId,
      topic,
    })),
  });
}

/** Reads both forms. */
export function decodeResetOffsetBody(body: string | Uint8Array): ResetOffsetBody {
  const object = bodyObject(body, 'ResetOffsetBody');
  if (!Array.isArray(object['offsetTable'])) return { offsetTable: readOffsets(object['offsetTable'], 'offsetTable') };
  return {
    offsetTable: list(object, 'offsetTable', (value, what) => [
      readMessageQueue(value),
      whole(asObject(value, what), 'offset'),
    ]),
  };
}

export function encodeGetConsumerStatusBody(status: GetConsumerStatusBody): Buffer {
  return writeJson({
    consumerTable: new Map([...status.consumerTable].map(([client, offsets]) => [client, offsetsMap(offsets)])),
    messageQueueTable: offsetsMap(status.messageQueueTable),
  });
}

export function decodeGetConsumerStatusBody(body: string | Uint8Array): GetConsumerStatusBody {
  const object = bodyObject(body, 'GetConsumerStatusBody');
  return {
    messageQueueTable: readOffsets(object['messageQueueTable'], 'messageQueueTable'),
    consumerTable: table(object, 'consumerTable', textKey, readOffsets),
  };
}

/** Offsets by queue id of one topic. */
export function encodeCorrectionOffsets(correctionOffsets: ReadonlyMap<number, number>): Buffer {
  return writeJson({ correctionOffsets });
}

export function decodeCorrectionOffsets(body: string | Uint8Array): Map<number, number> {
  return table(bodyObject(body, 'QueryCorrectionOffsetBody'), 'correctionOffsets', wholeKey, wholeValue);
}
