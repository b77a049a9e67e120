/**
 * The send header as the network thread reads it: into one reused struct, numbers straight from their digits, strings as byte
 * ranges that nobody decodes unless asked. Same values and same errors as send-message.ts and send-message-v2.ts.
 */
import { RequestCode } from '../codes.js';
import { Serialize, type ExtFields, type Request } from '../command.js';
import { FieldError, parseBoolean, parseInt32, parseInt64 } from '../fields.js';
import { JsonStrings, skipString } from '../json-bytes.js';
import {
  fieldName,
  Letter,
  LETTER_A,
  lettersByLongName,
  longNames,
  missingField,
  REQUIRED,
  type SendFields,
} from './send-fields.js';

export { NO_LIMIT, SendFields } from './send-fields.js';

/** Digits of numbers that a loop of multiplications keeps exact. */
const EXACT_DIGITS = 15;
const CLOSE = 0x7d;

/** Reads the header of codes 310, 320 and 325, or 10 and 324 by their long names, into `out`. Throws FieldError. */
export function decodeSendV2(request: Request, out: SendFields): void {
  const long = request.code === RequestCode.SEND_MESSAGE || request.code === RequestCode.SEND_REPLY_MESSAGE;
  out.reset(request.buffer);
  if (request.serialize === Serialize.ROCKETMQ) readBinary(request, out, long);
  else if (request.jsonExtEnd > 0) readJson(request, out, long);
  else readTexts(request.ext, out, long);
}

/** Which field a name in the buffer is: its letter's index, or another number for none of a send's. */
function letterAt(buffer: Buffer, at: number, bytes: number, long: boolean): number {
  if (long) return lettersByLongName.get(buffer.toString('latin1', at, at + bytes)) ?? -1;
  return bytes === 1 ? (buffer[at] as number) - LETTER_A : -1;
}

function readValue(buffer: Buffer, start: number, end: number, letter: number, out: SendFields, long: boolean): void {
  switch (letter) {
    case Letter.producerGroup:
    case Letter.topic:
    case Letter.defaultTopic:
    case Letter.properties:
      out.setRange(letter, start, end);
      return;
    case Letter.unitMode:
      out.unitMode = isTrue(buffer, start, end);
      return;
    case Letter.batch:
      out.batch = isTrue(buffer, start, end);
      return;
    default:
      out.setNumber(letter, digits(buffer, start, end, letter, long));
  }
}

/** Plain digits, as nearly always; a sign, more digits or an error go through the parsers of fields.ts. */
function digits(buffer: Buffer, start: number, end: number, letter: number, long: boolean): number {
  const wide = letter === Letter.bornTimestamp;
  let value = 0;
  let at = end - start > EXACT_DIGITS ? end + 1 : start;
  for (; at < end; at++) {
    const digit = (buffer[at] as number) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === end && end > start && (wide || value <= 0x7fffffff)) return value;
  const text = buffer.toString('utf8', start, end);
  return wide ? parseInt64(text, fieldName(letter, long)) : parseInt32(text, fieldName(letter, long));
}

function isTrue(buffer: Buffer, start: number, end: number): boolean {
  return end - start === 4 && parseBoolean(buffer.toString('latin1', start, end));
}

/** Binary: the map's lengths were checked when the command was decoded. */
function readBinary({ buffer, extStart, extEnd }: Request, out: SendFields, long: boolean): void {
  let present = 0;
  for (let at = extStart; at < extEnd;) {
    const nameBytes = ((buffer[at] as number) << 8) | (buffer[at + 1] as number);
    const valueAt = at + 6 + nameBytes;
    const end = valueAt + buffer.readInt32BE(valueAt - 4);
    // 4.9 reads an empty string as null.
    if (end > valueAt) {
      const letter = letterAt(buffer, at + 2, nameBytes, long);
      if (letter >= 0 && letter <= Letter.batch) {
        present |= 1 << letter;
        readValue(buffer, valueAt, end, letter, out, long);
      }
    }
    at = end;
  }
  if ((present & REQUIRED) !== REQUIRED) throw missingField(present, long);
}

const strings = new JsonStrings();

/** Scanned JSON: `{"a":"…","b":"…"}`, no space between, names without escapes; values are unescaped into the struct's memory. */
function readJson({ buffer, jsonExtStart, jsonExtEnd }: Request, out: SendFields, long: boolean): void {
  const target = out.space(jsonExtEnd - jsonExtStart);
  out.buffer = target;
  let present = 0;
  let to = 0;
  let at = jsonExtStart + 1;
  while (buffer[at] !== CLOSE) {
    const nameAt = at + 1;
    const nameEnd = skipString(buffer, nameAt) - 1;
    const valueAt = nameEnd + 3;
    const letter = letterAt(buffer, nameAt, nameEnd - nameAt, long);
    if (letter >= 0 && letter <= Letter.batch) {
      present |= 1 << letter;
      strings.copy(buffer, valueAt, target, to);
      readValue(target, to, strings.end, letter, out, long);
      to = strings.end;
      at = strings.at;
    } else at = skipString(buffer, valueAt);
    // The comma; behind the last value the closing brace ends the loop.
    if (buffer[at] !== CLOSE) at++;
  }
  if ((present & REQUIRED) !== REQUIRED) throw missingField(present, long);
}

/** JSON of another shape, parsed already. */
function readTexts(ext: ExtFields, out: SendFields, long: boolean): void {
  const text = (letter: number): string | undefined =>
    ext[long ? (longNames[letter] as string) : String.fromCharCode(LETTER_A + letter)];
  const required = (letter: number): string => {
    const value = text(letter);
    if (value === undefined) throw new FieldError(fieldName(letter, long), 'is missing');
    return value;
  };
  const int = (letter: number, value: string): number => parseInt32(value, fieldName(letter, long));
  out.setTexts(
    required(Letter.producerGroup),
    required(Letter.topic),
    required(Letter.defaultTopic),
    text(Letter.properties) ?? '',
  );
  out.defaultTopicQueueNums = int(Letter.defaultTopicQueueNums, required(Letter.defaultTopicQueueNums));
  out.queueId = int(Letter.queueId, required(Letter.queueId));
  out.sysFlag = int(Letter.sysFlag, required(Letter.sysFlag));
  out.bornTimestamp = parseInt64(required(Letter.bornTimestamp), fieldName(Letter.bornTimestamp, long));
  out.flag = int(Letter.flag, required(Letter.flag));
  const reconsumeTimes = text(Letter.reconsumeTimes);
  if (reconsumeTimes !== undefined) out.reconsumeTimes = int(Letter.reconsumeTimes, reconsumeTimes);
  const maxReconsumeTimes = text(Letter.maxReconsumeTimes);
  if (maxReconsumeTimes !== undefined) out.maxReconsumeTimes = int(Letter.maxReconsumeTimes, maxReconsumeTimes);
  out.unitMode = parseBoolean(text(Letter.unitMode) ?? '');
  out.batch = parseBoolean(text(Letter.batch) ?? '');
}
