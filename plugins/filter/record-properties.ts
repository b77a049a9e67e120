import { PropertyRange } from '../../protocol/message/properties.js';
import type { MessageProperties } from './contract.js';

const namesKeptMax = 1024;

/**
 * Properties read where they lie in a record: one look-up walks the bytes once and makes one string, no map. One object serves
 * a whole pull; `at` points it to the next record.
 */
export class RecordProperties implements MessageProperties {
  private readonly range = new PropertyRange();
  private bytes: Buffer = Buffer.alloc(0);
  private start = 0;
  private end = 0;

  /** `bytes[start, end)` is the record's `name\u0001value\u0002…` and stays as it is until the next call. */
  at(bytes: Buffer, start: number, end: number): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    return this;
  }

  /** 4.9: MessageDecoder#string2messageProperties: the last of a name counts, an empty name or value is none. */
  get(name: string): string | undefined {
    const { bytes, range } = this;
    if (name === '' || !range.find(bytes, this.start, this.end, utf8Of(name))) return undefined;
    return bytes.toString('utf8', range.start, range.end);
  }
}

/** Names come from subscriptions and are few; the bound is for those that make them up. */
const kept = new Map<string, Buffer>();

function utf8Of(name: string): Buffer {
  let bytes = kept.get(name);
  if (bytes === undefined) {
    bytes = Buffer.from(name);
    if (kept.size >= namesKeptMax) kept.clear();
    kept.set(name, bytes);
  }
  return bytes;
}
