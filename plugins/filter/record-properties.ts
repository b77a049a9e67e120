import type { MessageProperties } from './contract.js';

const NAME_VALUE_BYTE = 1;
const PROPERTY_BYTE = 2;

const namesKeptMax = 1024;
/** Up to so many ASCII characters are put together faster here than by a call into Node. */
const SHORT = 6;

/** Words of one property: start of the name, its end, end of the value, which begins one byte behind the name. */
const WORDS = 3;

/**
 * Properties read where they lie in a record. The first look-up walks the bytes once and notes where each property lies; a value
 * becomes a string when it is asked for, once. One object serves a whole pull; `at` points it to the next record.
 */
export class RecordProperties implements MessageProperties {
  private bytes: Buffer = Buffer.alloc(0);
  private start = 0;
  private end = 0;
  /** How many properties `places` and `values` hold; -1 before the first look-up. */
  private count = -1;
  private places = new Int32Array(16 * WORDS);
  private readonly values: (string | undefined)[] = [];

  /** `bytes[start, end)` is the record's `name\u0001value\u0002…` and stays as it is until the next call. */
  at(bytes: Buffer, start: number, end: number): this {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.count = -1;
    return this;
  }

  /** 4.9: MessageDecoder#string2messageProperties: the last of a name counts, an empty name or value is none. */
  get(name: string): string | undefined {
    if (this.count < 0) this.walk();
    const { bytes, places } = this;
    const wanted = utf8Of(name);
    for (let at = this.count - 1; at >= 0; at--) {
      const from = places[at * WORDS]!;
      const to = places[at * WORDS + 1]!;
      if (to - from !== wanted.length || !sameBytes(bytes, from, wanted)) continue;
      return (this.values[at] ??= textOf(bytes, to + 1, places[at * WORDS + 2]!));
    }
    return undefined;
  }

  private walk(): void {
    const { bytes, end } = this;
    this.count = 0;
    for (let at = this.start; at < end;) {
      let middle = -1;
      let to = at;
      for (; to < end; to++) {
        const byte = bytes[to]!;
        if (byte === PROPERTY_BYTE) break;
        if (byte === NAME_VALUE_BYTE && middle < 0) middle = to;
      }
      if (middle > at && middle < to - 1) this.note(at, middle, to);
      at = to + 1;
    }
  }

  private note(from: number, middle: number, to: number): void {
    const word = this.count * WORDS;
    if (word === this.places.length) {
      const larger = new Int32Array(2 * word);
      larger.set(this.places);
      this.places = larger;
    }
    this.places[word] = from;
    this.places[word + 1] = middle;
    this.places[word + 2] = to;
    this.values[this.count++] = undefined;
  }
}

function sameBytes(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

function textOf(bytes: Buffer, from: number, to: number): string {
  if (to - from > SHORT) return bytes.toString('utf8', from, to);
  let text = '';
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x80) return bytes.toString('utf8', from, to);
    text += String.fromCharCode(byte);
  }
  return text;
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
