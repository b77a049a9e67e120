import { encodeFrame, ONE_WAY, type Frame, type HeaderForm } from './frames.js';
import type { TopicQueue } from './load.js';

const SEND_MESSAGE_V2 = 310;
const SEND_BATCH_MESSAGE = 320;

/** Every message carries a UNIQ_KEY of 32 hexadecimal digits; the last 8 count up, as with a real producer. */
export const KEY_STEM = '7F0000010F0F18B4AAC20000';
export const KEY_DIGITS = 8;
const HEX = Buffer.from('0123456789ABCDEF');

export interface SendFrame extends Frame {
  /** Where the counting digits of each message's UNIQ_KEY and, with `keys`, KEYS stand. */
  readonly keysAt: readonly number[];
  /** Where the body begins. */
  readonly bodyAt: number;
  /** Where the digits of the delivery time stand; -1 without one. */
  readonly dueAt: number;
}

/** What all messages of a load have in common. */
export interface MessageShape {
  readonly form: HeaderForm;
  readonly bodyBytes: number;
  /** 1: a plain send (310), more: a batch (320) of so many. */
  readonly perRequest: number;
  /** Whether each message has a property KEYS, too. */
  readonly keys: boolean;
  /** Tags that messages have in turn; none: no tag. */
  readonly tags: readonly string[];
  /** Further user properties of 16 bytes each. */
  readonly properties: number;
  /** No answer is wanted. */
  readonly oneWay: boolean;
  /** Half messages of transactions. */
  readonly half?: boolean;
  readonly delay?: DelayShape;
}

/** When messages of a load are to be delivered. */
export interface DelayShape {
  /** After a level of the broker; without it each message has a time of its own. */
  readonly level?: number;
  /** What the level means, or how far ahead the time is. */
  readonly aheadMs: number;
  /** Times are spread over so much more. */
  readonly spreadMs?: number;
}

/** Of all messages, and of the transactions among them. */
export const PRODUCER_GROUP = 'kernel-bench';
const TRANSACTION_PREPARED = '4';

/** Replaced in every message; as many digits as times have until the year 2286. */
const NO_DUE_TIME = '9182736459182';

/** More memory than a generator should take for its templates. */
const FRAMES_BYTES_MAX = 1024 ** 3;

/** A template for each queue; with tags for each pair, in an order in which both change from one to the next. */
export function sendFrames(shape: MessageShape, queues: readonly TopicQueue[], bornTimestamp: number): SendFrame[] {
  // The messages of a batch have the tags in turn already.
  const rounds = shape.perRequest > 1 ? 1 : Math.max(1, shape.tags.length);
  const frames: SendFrame[] = [];
  for (let round = 0; round < rounds; round++)
    for (const [index, queue] of queues.entries()) {
      frames.push(sendFrame(shape, queue, bornTimestamp, index + round));
      if (frames[0]!.bytes.length * queues.length * rounds > FRAMES_BYTES_MAX)
        throw new Error(
          'the templates of these messages take more than 1 GiB: fewer topics, smaller messages or batches',
        );
    }
  return frames;
}

/** `turn`: which tag comes first. */
export function sendFrame(shape: MessageShape, queue: TopicQueue, bornTimestamp: number, turn = 0): SendFrame {
  const batch = shape.perRequest > 1;
  const body = batch ? batchBody(shape) : Buffer.alloc(shape.bodyBytes, 97);
  const ext: Record<string, string> = {
    a: PRODUCER_GROUP,
    b: queue.topic,
    c: 'TBW102',
    d: '4',
    e: String(queue.queueId),
    f: shape.half === true ? TRANSACTION_PREPARED : '0',
    g: String(bornTimestamp),
    h: '0',
    i: batch ? '' : properties(shape, turn),
    j: '0',
    k: 'false',
    m: String(batch),
  };
  const code = batch ? SEND_BATCH_MESSAGE : SEND_MESSAGE_V2;
  const frame = encodeFrame(shape.form, code, ext, body, shape.oneWay ? ONE_WAY : 0);
  const dueAt = frame.bytes.indexOf(NO_DUE_TIME);
  return { ...frame, keysAt: keysIn(frame.bytes), bodyAt: frame.bytes.length - body.length, dueAt };
}

/** name 1 value 2 name 1 value 2 … */
function properties({ keys, tags, properties: count, half, delay }: MessageShape, turn: number): string {
  const key = KEY_STEM + '0'.repeat(KEY_DIGITS);
  let text = `UNIQ_KEY\u0001${key}\u0002WAIT\u0001true\u0002`;
  if (half === true) text += `TRAN_MSG\u0001true\u0002PGROUP\u0001${PRODUCER_GROUP}\u0002`;
  if (delay?.level !== undefined) text += `DELAY\u0001${delay.level}\u0002`;
  else if (delay !== undefined) text += `TIMER_DELIVER_MS\u0001${NO_DUE_TIME}\u0002`;
  if (keys) text += `KEYS\u0001${key}\u0002`;
  if (tags.length > 0) text += `TAGS\u0001${tags[turn % tags.length]!}\u0002`;
  for (let index = 0; index < count; index++) text += `p${String(index).padStart(3, '0')}\u0001value-0123\u0002`;
  return text;
}

/** size(4) magic(4) crc(4) flag(4) bodyLength(4) body propertiesLength(2) properties, once per message. */
function batchBody(shape: MessageShape): Buffer {
  const { bodyBytes, perRequest } = shape;
  const message = (index: number): Buffer => {
    const text = Buffer.from(properties(shape, index));
    const size = 22 + bodyBytes + text.length;
    const one = Buffer.alloc(size, 97);
    one.fill(0, 0, 16);
    one.writeInt32BE(size, 0);
    one.writeInt32BE(bodyBytes, 16);
    one.writeInt16BE(text.length, 20 + bodyBytes);
    text.copy(one, 22 + bodyBytes);
    return one;
  };
  return Buffer.concat(Array.from({ length: perRequest }, (_, index) => message(index)));
}

/** Where the counting digits of the keys in a frame begin. */
export function keysIn(frame: Buffer): number[] {
  const found: number[] = [];
  for (let at = frame.indexOf(KEY_STEM); at >= 0; at = frame.indexOf(KEY_STEM, at + 1))
    found.push(at + KEY_STEM.length);
  return found;
}

/** Writes the counting digits of one key into a copy of a frame. */
export function writeKey(target: Buffer, at: number, count: number): void {
  for (let digit = 0; digit < KEY_DIGITS; digit++) target[at + digit] = HEX[(count >>> (28 - 4 * digit)) & 15]!;
}

/** Writes the delivery time into a copy of a frame. */
export function writeDueTime(target: Buffer, at: number, dueMs: number): void {
  let rest = dueMs;
  for (let place = at + NO_DUE_TIME.length - 1; place >= at; place--) {
    const next = Math.floor(rest / 10);
    target[place] = 48 + (rest - next * 10);
    rest = next;
  }
}
