/** Committed offsets: body of 43 and `config/consumerOffset.json`; delay progress: body of 45 and `config/delayOffset.json`. */
import { writeJson } from './json-write.js';
import { bodyObject, table, tableOf, textKey, wholeKey, wholeValue } from './shape.js';

/** Offset by queue id, by `topic@group`. 4.9: ConsumerOffsetSerializeWrapper. */
export type ConsumerOffsetTable = ReadonlyMap<string, ReadonlyMap<number, number>>;
/** Offset by delay level. 4.9: DelayOffsetSerializeWrapper. */
export type DelayOffsetTable = ReadonlyMap<number, number>;

/** Number keys stand bare, as 4.9 writes and expects them. */
export function encodeConsumerOffsetTable(offsetTable: ConsumerOffsetTable): Buffer {
  return writeJson({ offsetTable });
}

export function decodeConsumerOffsetTable(body: string | Uint8Array): Map<string, Map<number, number>> {
  return table(bodyObject(body, 'consumer offsets'), 'offsetTable', textKey, (value, what) =>
    tableOf(value, what, wholeKey, wholeValue),
  );
}

export function encodeDelayOffsetTable(offsetTable: DelayOffsetTable): Buffer {
  return writeJson({ offsetTable });
}

export function decodeDelayOffsetTable(body: string | Uint8Array): Map<number, number> {
  return table(bodyObject(body, 'delay offsets'), 'offsetTable', wholeKey, wholeValue);
}
