/**
 * The send header as the network thread reads it: into one reused struct, numbers straight from their digits, strings as byte
 * ranges that nobody decodes unless asked. Same values and same errors as send-message.ts and send-message-v2.ts.
 */
import { RequestCode } from '../codes.js';
import { Serialize, type ExtFields, type Request } from '../command.js';
import { FieldError, parseBoolean, parseInt32, parseInt64 } from '../fields.js';

/** Index of each field: its letter in the V2 header, counted from `a`. */
const Letter = {
  producerGroup: 0,
  topic: 1,
  defaultTopic: 2,
  defaultTopicQueueNums: 3,
  queueId: 4,
  sysFlag: 5,
  bornTimestamp: 6,
  flag: 7,
  properties: 8,
  reconsumeTimes: 9,
  unitMode: 10,
  maxReconsumeTimes: 11,
  batch: 12,
} as const;

const longNames = Object.keys(Letter);
const lettersByLongName = new Map<string, number>(Object.entries(Letter));
const LETTER_A = 0x61;
const REQUIRED = 0b1111_1111;
const EXACT_DIGITS = 15;

/** `maxReconsumeTimes` when the header does not hold it; a retry send then goes by the group's own limit. */
export const NO_LIMIT = -1;

/** One send header. Valid until the next `decodeSendV2` into it, and no longer than the request's buffer. */
export class SendFields {
  /** What the ranges lie in: the request's buffer, or memory of this struct for a JSON header. */
  buffer: Buffer = Buffer.alloc(0);
  producerGroupStart = 0;
  producerGroupEnd = 0;
  topicStart = 0;
  topicEnd = 0;
  defaultTopicStart = 0;
  defaultTopicEnd = 0;
  /** Empty range when there are none. */
  propertiesStart = 0;
  propertiesEnd = 0;
  defaultTopicQueueNums = 0;
  queueId = 0;
  sysFlag = 0;
  bornTimestamp = 0;
  flag = 0;
  reconsumeTimes = 0;
  maxReconsumeTimes = NO_LIMIT;
  unitMode = false;
  batch = false;

  private group: string | undefined;
  private topic: string | undefined;
  private template: string | undefined;
  private properties: string | undefined;
  private scratch = Buffer.alloc(0);

  producerGroupText(): string {
    return (this.group ??= this.buffer.toString('utf8', this.producerGroupStart, this.producerGroupEnd));
  }

  topicText(): string {
    return (this.topic ??= this.buffer.toString('utf8', this.topicStart, this.topicEnd));
  }

  defaultTopicText(): string {
    return (this.template ??= this.buffer.toString('utf8', this.defaultTopicStart, this.defaultTopicEnd));
  }

  propertiesText(): string {
    return (this.properties ??= this.buffer.toString('utf8', this.propertiesStart, this.propertiesEnd));
  }

  /** Forgets the last header. */
  reset(buffer: Buffer): void {
    this.buffer = buffer;
    this.group = undefined;
    this.topic = undefined;
    this.template = undefined;
    this.properties = undefined;
    this.propertiesStart = 0;
    this.propertiesEnd = 0;
    this.reconsumeTimes = 0;
    this.maxReconsumeTimes = NO_LIMIT;
    this.unitMode = false;
    this.batch = false;
  }

  /** Keeps the strings of a JSON header and their bytes, one behind the other, in memory that is reused. */
  setTexts(group: string, topic: string, template: string, properties: string): void {
    const bytesMax = (group.length + topic.length + template.length + properties.length) * 3;
    if (this.scratch.length < bytesMax) this.scratch = Buffer.allocUnsafeSlow(Math.max(4096, bytesMax));
    const { scratch } = this;
    this.buffer = scratch;
    this.group = group;
    this.topic = topic;
    this.template = template;
    this.properties = properties;
    this.topicStart = 0;
    this.topicEnd = scratch.write(topic, 0);
    this.propertiesStart = this.topicEnd;
    this.propertiesEnd = this.propertiesStart + scratch.write(properties, this.propertiesStart);
    this.producerGroupStart = this.propertiesEnd;
    this.producerGroupEnd = this.producerGroupStart + scratch.write(group, this.producerGroupStart);
    this.defaultTopicStart = this.producerGroupEnd;
    this.defaultTopicEnd = this.defaultTopicStart + scratch.write(template, this.defaultTopicStart);
  }
}

/** Reads the header of codes 310, 320 and 325, or 10 and 324 by their long names, into `out`. Throws FieldError. */
export function decodeSendV2(request: Request, out: SendFields): void {
  const long = request.code === RequestCode.SEND_MESSAGE || request.code === RequestCode.SEND_REPLY_MESSAGE;
  out.reset(request.buffer);
  if (request.serialize === Serialize.ROCKETMQ) readBinary(request, out, long);
  else readTexts(request.ext, out, long);
}

// ---------------------------------------------------------------------------------------------------- binary

/** The map's lengths were checked when the command was decoded. */
function readBinary({ buffer, extStart, extEnd }: Request, out: SendFields, long: boolean): void {
  let present = 0;
  for (let at = extStart; at < extEnd;) {
    const nameBytes = ((buffer[at] as number) << 8) | (buffer[at + 1] as number);
    const valueAt = at + 6 + nameBytes;
    const end = valueAt + buffer.readInt32BE(valueAt - 4);
    // 4.9 reads an empty string as null.
    if (end > valueAt) {
      const letter = long
        ? longLetter(buffer, at + 2, nameBytes)
        : nameBytes === 1
          ? (buffer[at + 2] as number) - LETTER_A
          : -1;
      if (letter >= 0 && letter <= Letter.batch) {
        present |= 1 << letter;
        readField(buffer, valueAt, end, letter, out, long);
      }
    }
    at = end;
  }
  if ((present & REQUIRED) !== REQUIRED) throw missing(present, long);
}

function longLetter(buffer: Buffer, at: number, bytes: number): number {
  return lettersByLongName.get(buffer.toString('latin1', at, at + bytes)) ?? -1;
}

function readField(buffer: Buffer, start: number, end: number, letter: number, out: SendFields, long: boolean): void {
  switch (letter) {
    case Letter.producerGroup:
      out.producerGroupStart = start;
      out.producerGroupEnd = end;
      return;
    case Letter.topic:
      out.topicStart = start;
      out.topicEnd = end;
      return;
    case Letter.defaultTopic:
      out.defaultTopicStart = start;
      out.defaultTopicEnd = end;
      return;
    case Letter.properties:
      out.propertiesStart = start;
      out.propertiesEnd = end;
      return;
    case Letter.unitMode:
      out.unitMode = isTrue(buffer, start, end);
      return;
    case Letter.batch:
      out.batch = isTrue(buffer, start, end);
      return;
    default:
      setNumber(out, letter, digits(buffer, start, end, letter, long));
  }
}

function setNumber(out: SendFields, letter: number, value: number): void {
  switch (letter) {
    case Letter.defaultTopicQueueNums:
      out.defaultTopicQueueNums = value;
      return;
    case Letter.queueId:
      out.queueId = value;
      return;
    case Letter.sysFlag:
      out.sysFlag = value;
      return;
    case Letter.bornTimestamp:
      out.bornTimestamp = value;
      return;
    case Letter.flag:
      out.flag = value;
      return;
    case Letter.reconsumeTimes:
      out.reconsumeTimes = value;
      return;
    case Letter.maxReconsumeTimes:
      out.maxReconsumeTimes = value;
  }
}

/** Plain digits, as nearly always; a sign, more digits or an error go through the parsers of fields.ts. */
function digits(buffer: Buffer, start: number, end: number, letter: number, long: boolean): number {
  let value = 0;
  let at = end - start > EXACT_DIGITS ? end : start;
  for (; at < end; at++) {
    const digit = (buffer[at] as number) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === end && end - start <= EXACT_DIGITS && (value <= 0x7fffffff || letter === Letter.bornTimestamp))
    return value;
  const text = buffer.toString('latin1', start, end);
  return letter === Letter.bornTimestamp
    ? parseInt64(text, nameOf(letter, long))
    : parseInt32(text, nameOf(letter, long));
}

function isTrue(buffer: Buffer, start: number, end: number): boolean {
  return end - start === 4 && parseBoolean(buffer.toString('latin1', start, end));
}

// ---------------------------------------------------------------------------------------------------- JSON

function readTexts(ext: ExtFields, out: SendFields, long: boolean): void {
  const text = (letter: number): string | undefined =>
    ext[long ? (longNames[letter] as string) : String.fromCharCode(LETTER_A + letter)];
  const required = (letter: number): string => {
    const value = text(letter);
    if (value === undefined) throw new FieldError(nameOf(letter, long), 'is missing');
    return value;
  };
  const int = (letter: number, value: string): number => parseInt32(value, nameOf(letter, long));
  out.setTexts(
    required(Letter.producerGroup),
    required(Letter.topic),
    required(Letter.defaultTopic),
    text(Letter.properties) ?? '',
  );
  out.defaultTopicQueueNums = int(Letter.defaultTopicQueueNums, required(Letter.defaultTopicQueueNums));
  out.queueId = int(Letter.queueId, required(Letter.queueId));
  out.sysFlag = int(Letter.sysFlag, required(Letter.sysFlag));
  out.bornTimestamp = parseInt64(required(Letter.bornTimestamp), nameOf(Letter.bornTimestamp, long));
  out.flag = int(Letter.flag, required(Letter.flag));
  const reconsumeTimes = text(Letter.reconsumeTimes);
  if (reconsumeTimes !== undefined) out.reconsumeTimes = int(Letter.reconsumeTimes, reconsumeTimes);
  const maxReconsumeTimes = text(Letter.maxReconsumeTimes);
  if (maxReconsumeTimes !== undefined) out.maxReconsumeTimes = int(Letter.maxReconsumeTimes, maxReconsumeTimes);
  out.unitMode = parseBoolean(text(Letter.unitMode) ?? '');
  out.batch = parseBoolean(text(Letter.batch) ?? '');
}

function nameOf(letter: number, long: boolean): string {
  const name = longNames[letter] as string;
  return long ? name : `${name} (${String.fromCharCode(LETTER_A + letter)})`;
}

function missing(present: number, long: boolean): FieldError {
  let letter = 0;
  while ((present & (1 << letter)) !== 0) letter++;
  return new FieldError(nameOf(letter, long), 'is missing');
}
