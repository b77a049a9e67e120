import { FieldError } from '../fields.js';
import { KnownStrings } from '../known-strings.js';

/** Index of each field: its letter in the V2 header, counted from `a`. */
export const Letter = {
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

export const longNames = Object.keys(Letter);
export const lettersByLongName = new Map<string, number>(Object.entries(Letter));
export const LETTER_A = 0x61;
/** The first eight are required: their bits in what was present. */
export const REQUIRED = 0b1111_1111;

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
  private readonly known = new KnownStrings();

  producerGroupText(): string {
    return (this.group ??= this.buffer.toString('utf8', this.producerGroupStart, this.producerGroupEnd));
  }

  topicText(): string {
    return (this.topic ??= this.known.text(this.buffer, this.topicStart, this.topicEnd));
  }

  defaultTopicText(): string {
    return (this.template ??= this.known.text(this.buffer, this.defaultTopicStart, this.defaultTopicEnd));
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
    const scratch = this.space(bytesMax);
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

  /** Memory for the strings of a JSON header whose text takes `bytes`; what the last header left there is lost. */
  space(bytes: number): Buffer {
    if (this.scratch.length < bytes) this.scratch = Buffer.allocUnsafeSlow(Math.max(4096, bytes));
    return this.scratch;
  }

  setRange(letter: number, start: number, end: number): void {
    switch (letter) {
      case Letter.producerGroup:
        this.producerGroupStart = start;
        this.producerGroupEnd = end;
        return;
      case Letter.topic:
        this.topicStart = start;
        this.topicEnd = end;
        return;
      case Letter.defaultTopic:
        this.defaultTopicStart = start;
        this.defaultTopicEnd = end;
        return;
      case Letter.properties:
        this.propertiesStart = start;
        this.propertiesEnd = end;
    }
  }

  setNumber(letter: number, value: number): void {
    switch (letter) {
      case Letter.defaultTopicQueueNums:
        this.defaultTopicQueueNums = value;
        return;
      case Letter.queueId:
        this.queueId = value;
        return;
      case Letter.sysFlag:
        this.sysFlag = value;
        return;
      case Letter.bornTimestamp:
        this.bornTimestamp = value;
        return;
      case Letter.flag:
        this.flag = value;
        return;
      case Letter.reconsumeTimes:
        this.reconsumeTimes = value;
        return;
      case Letter.maxReconsumeTimes:
        this.maxReconsumeTimes = value;
    }
  }
}

/** As people know it, with the letter that stands on the wire. */
export function fieldName(letter: number, long: boolean): string {
  const name = longNames[letter] as string;
  return long ? name : `${name} (${String.fromCharCode(LETTER_A + letter)})`;
}

export function missingField(present: number, long: boolean): FieldError {
  let letter = 0;
  while ((present & (1 << letter)) !== 0) letter++;
  return new FieldError(fieldName(letter, long), 'is missing');
}
