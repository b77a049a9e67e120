import { encodeFrame, type Frame, type HeaderForm } from './frames.js';

const SEND_MESSAGE_V2 = 310;
const SEND_BATCH_MESSAGE = 320;
const PULL_MESSAGE = 11;
const PULL_FLAG_SUBSCRIPTION = 4;

/** Every message carries a UNIQ_KEY of 32 hexadecimal digits; the last 8 count up, as with a real producer. */
const KEY_STEM = '7F0000010F0F18B4AAC20000';
const KEY_DIGITS = 8;
const HEX = Buffer.from('0123456789ABCDEF');

export interface SendFrame extends Frame {
  readonly messages: number;
  /** Where the counting digits of each message's UNIQ_KEY and, with `keys`, KEYS stand. */
  readonly keysAt: readonly number[];
}

export interface SendShape {
  readonly form: HeaderForm;
  readonly topic: string;
  readonly queueId: number;
  readonly bodyBytes: number;
  /** 1: a plain send (310), more: a batch (320) of so many. */
  readonly messages: number;
  readonly bornTimestamp: number;
  readonly keys: boolean;
}

export function sendFrame(shape: SendShape): SendFrame {
  const batch = shape.messages > 1;
  const body = batch
    ? batchBody(shape.messages, shape.bodyBytes, properties(shape.keys))
    : Buffer.alloc(shape.bodyBytes, 97);
  const ext: Record<string, string> = {
    a: 'kernel-bench',
    b: shape.topic,
    c: 'TBW102',
    d: '4',
    e: String(shape.queueId),
    f: '0',
    g: String(shape.bornTimestamp),
    h: '0',
    i: batch ? '' : properties(shape.keys),
    j: '0',
    k: 'false',
    m: String(batch),
  };
  const frame = encodeFrame(shape.form, batch ? SEND_BATCH_MESSAGE : SEND_MESSAGE_V2, ext, body);
  return { ...frame, messages: shape.messages, keysAt: keysIn(frame.bytes) };
}

function properties(keys: boolean): string {
  const key = KEY_STEM + '0'.repeat(KEY_DIGITS);
  return `UNIQ_KEY\u0001${key}\u0002WAIT\u0001true\u0002${keys ? `KEYS\u0001${key}\u0002` : ''}`;
}

/** size(4) magic(4) crc(4) flag(4) bodyLength(4) body propertiesLength(2) properties, once per message. */
function batchBody(messages: number, bodyBytes: number, propertiesText: string): Buffer {
  const text = Buffer.from(propertiesText);
  const size = 22 + bodyBytes + text.length;
  const one = Buffer.alloc(size, 97);
  one.fill(0, 0, 16);
  one.writeInt32BE(size, 0);
  one.writeInt32BE(bodyBytes, 16);
  one.writeInt16BE(text.length, 20 + bodyBytes);
  text.copy(one, 22 + bodyBytes);
  return Buffer.concat(Array.from({ length: messages }, () => one));
}

function keysIn(frame: Buffer): number[] {
  const found: number[] = [];
  for (let at = frame.indexOf(KEY_STEM); at >= 0; at = frame.indexOf(KEY_STEM, at + 1))
    found.push(at + KEY_STEM.length);
  return found;
}

/** Writes the counting digits of one key into a copy of a frame. */
export function writeKey(target: Buffer, at: number, count: number): void {
  for (let digit = 0; digit < KEY_DIGITS; digit++) target[at + digit] = HEX[(count >>> (28 - 4 * digit)) & 15]!;
}

/** A pull request split around its offset, the only part whose length changes from pull to pull. */
export class PullFrame {
  readonly #form: HeaderForm;
  readonly #frame: Frame;
  readonly #valueAt: number;
  readonly #valueEnd: number;

  constructor(form: HeaderForm, topic: string, queueId: number, group: string, perPull: number) {
    const marker = '918273645918273';
    const ext = {
      consumerGroup: group,
      topic,
      queueId: String(queueId),
      queueOffset: marker,
      maxMsgNums: String(perPull),
      sysFlag: String(PULL_FLAG_SUBSCRIPTION),
      commitOffset: '0',
      suspendTimeoutMillis: '0',
      subscription: '*',
      subVersion: '0',
      expressionType: 'TAG',
    };
    this.#form = form;
    this.#frame = encodeFrame(form, PULL_MESSAGE, ext, Buffer.alloc(0));
    this.#valueAt = this.#frame.bytes.indexOf(marker);
    this.#valueEnd = this.#valueAt + marker.length;
  }

  /** A frame ready to send, but for its opaque; `opaqueAt` is right for it. */
  at(offset: number): Frame {
    const template = this.#frame.bytes;
    const value = String(offset);
    const shift = value.length - (this.#valueEnd - this.#valueAt);
    const bytes = Buffer.allocUnsafe(template.length + shift);
    template.copy(bytes, 0, 0, this.#valueAt);
    bytes.write(value, this.#valueAt, 'latin1');
    template.copy(bytes, this.#valueAt + value.length, this.#valueEnd);
    bytes.writeInt32BE(template.readInt32BE(0) + shift, 0);
    bytes.writeInt32BE(template.readInt32BE(4) + shift, 4);
    if (this.#form === 'json') return { ...this.#frame, bytes, opaqueAt: this.#frame.opaqueAt + shift };
    bytes.writeInt32BE(template.readInt32BE(25) + shift, 25);
    bytes.writeInt32BE(value.length, this.#valueAt - 4);
    return { ...this.#frame, bytes };
  }
}

/** Walks the stored records of a pull answer: how many there are, and the queue offset after the last one. */
export function readRecords(
  buffer: Buffer,
  start: number,
  end: number,
  result: { count: number; nextOffset: number },
): void {
  let at = start;
  let last = -1;
  result.count = 0;
  while (at + 28 <= end) {
    const size = buffer.readInt32BE(at);
    if (size <= 28 || at + size > end) throw new Error(`record of ${size} bytes in a pull answer of ${end - start}`);
    last = at;
    at += size;
    result.count++;
  }
  if (last >= 0) result.nextOffset = buffer.readUInt32BE(last + 20) * 2 ** 32 + buffer.readUInt32BE(last + 24) + 1;
}
