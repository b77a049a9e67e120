/** Body of 28, 103's answer and 219: strings by name. 4.9: KVTable. */
import { writeJson } from './json-write.js';
import { bodyObject, table, textKey, textValue } from './shape.js';

export type KVTable = ReadonlyMap<string, string>;

export function encodeKVTable(entries: KVTable): Buffer {
  return writeJson({ table: entries });
}

export function decodeKVTable(body: string | Uint8Array): Map<string, string> {
  return table(bodyObject(body, 'KVTable'), 'table', textKey, textValue);
}
