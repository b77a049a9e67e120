/**
 * The pull header as the network thread reads it: numbers straight from their digits, strings among those seen before. What is not
 * as usual – a field is missing, a number has a sign, a string an escape – is left to pull-message.ts, which gives the same values and
 * the errors.
 */
import { Serialize, type Request } from '../command.js';
import { readInt32 } from '../int64.js';
import { skipString } from '../json-bytes.js';
import { KnownStrings } from '../known-strings.js';
import { decodePullMessage, type PullMessageRequestHeader } from './pull-message.js';

type Name = keyof PullMessageRequestHeader;

/** Texts first; each field's place is its index. */
const TEXTS = ['consumerGroup', 'topic', 'subscription', 'expressionType', 'bname'] as const satisfies Name[];
const INTS = ['queueId', 'maxMsgNums', 'sysFlag'] as const satisfies Name[];
const LONGS = ['queueOffset', 'commitOffset', 'suspendTimeoutMillis', 'subVersion'] as const satisfies Name[];
const FIRST_INT = TEXTS.length;
const FIRST_LONG = FIRST_INT + INTS.length;
const names = [...TEXTS, ...INTS, ...LONGS].map((name) => Buffer.from(name));
/** Numbers, group and topic. */
const REQUIRED = (1 << names.length) - 1 - 0b11100;

const INT_MAX = 0x7fffffff;
/** Digits of numbers that a loop of multiplications keeps exact. */
const EXACT_DIGITS = 15;
const NO_NUMBER = -1;
const BACKSLASH = 0x5c;
const CLOSE = 0x7d;

/** No two names have both their length and their first letter in common. */
const places = new Int8Array(1024).fill(-1);
names.forEach((name, place) => (places[spot(name.length, name[0] as number)] = place));

const strings = new KnownStrings();
const texts: (string | undefined)[] = TEXTS.map(() => undefined);
const numbers = new Float64Array(names.length);

/** Reads the header of a pull. Throws FieldError. */
export function decodePull(request: Request): PullMessageRequestHeader {
  texts.fill(undefined);
  const present = request.serialize === Serialize.ROCKETMQ ? readBinary(request) : readJson(request);
  return (present & REQUIRED) === REQUIRED ? header() : decodePullMessage(request.ext);
}

function header(): PullMessageRequestHeader {
  return {
    consumerGroup: texts[0] as string,
    topic: texts[1] as string,
    subscription: texts[2],
    expressionType: texts[3],
    bname: texts[4],
    queueId: numbers[5] as number,
    maxMsgNums: numbers[6] as number,
    sysFlag: numbers[7] as number,
    queueOffset: numbers[8] as number,
    commitOffset: numbers[9] as number,
    suspendTimeoutMillis: numbers[10] as number,
    subVersion: numbers[11] as number,
  };
}

/** The fields that are there, as bits; 0 when one is unusual. The map's lengths were checked when the command was decoded. */
function readBinary({ buffer, extStart, extEnd }: Request): number {
  let present = 0;
  for (let at = extStart; at < extEnd;) {
    const nameBytes = ((buffer[at] as number) << 8) | (buffer[at + 1] as number);
    const valueAt = at + 6 + nameBytes;
    const end = valueAt + readInt32(buffer, valueAt - 4);
    const place = placeOf(buffer, at + 2, nameBytes);
    // 4.9 reads an empty string as null.
    if (place >= 0 && end > valueAt) {
      if (!read(buffer, valueAt, end, place)) return 0;
      present |= 1 << place;
    }
    at = end;
  }
  return present;
}

/** Scanned JSON: `{"a":"…","b":"…"}`, no space between, names without escapes; 0 when the header had another shape. */
function readJson({ buffer, jsonExtStart, jsonExtEnd }: Request): number {
  if (jsonExtEnd === 0) return 0;
  let present = 0;
  for (let at = jsonExtStart + 1; buffer[at] !== CLOSE;) {
    const nameAt = at + 1;
    const nameEnd = skipString(buffer, nameAt) - 1;
    const place = placeOf(buffer, nameAt, nameEnd - nameAt);
    const valueAt = nameEnd + 3;
    at = skipString(buffer, valueAt);
    if (place >= 0) {
      if (hasEscape(buffer, valueAt, at) || !read(buffer, valueAt, at - 1, place)) return 0;
      present |= 1 << place;
    }
    // The comma; behind the last value the closing brace ends the loop.
    if (buffer[at] !== CLOSE) at++;
  }
  return present;
}

function hasEscape(buffer: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (buffer[at] === BACKSLASH) return true;
  return false;
}

function read(buffer: Buffer, start: number, end: number, place: number): boolean {
  if (place < FIRST_INT) {
    texts[place] = strings.text(buffer, start, end);
    return true;
  }
  const value = digits(buffer, start, end);
  numbers[place] = value;
  return value !== NO_NUMBER && (place >= FIRST_LONG || value <= INT_MAX);
}

function digits(buffer: Buffer, start: number, end: number): number {
  if (end === start || end - start > EXACT_DIGITS) return NO_NUMBER;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (buffer[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return NO_NUMBER;
    value = value * 10 + digit;
  }
  return value;
}

function placeOf(buffer: Buffer, at: number, bytes: number): number {
  const place = bytes < 32 ? (places[spot(bytes, buffer[at] as number)] as number) : -1;
  if (place < 0) return -1;
  const name = names[place] as Buffer;
  for (let index = 0; index < bytes; index++) if (name[index] !== buffer[at + index]) return -1;
  return place;
}

function spot(bytes: number, first: number): number {
  return (bytes << 5) | (first & 31);
}
