import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { SysFlag } from '../../protocol/codes.js';
import { encodeBatch, type BatchMessage } from '../../protocol/message/batch.js';
import { withZlibFlags } from '../../protocol/message/body.js';
import type { UniqueIdGenerator } from '../../protocol/message/message-id.js';
import {
  formatProperties,
  NAME_VALUE_SEPARATOR,
  PROPERTY_SEPARATOR,
  PropertyName,
} from '../../protocol/message/properties.js';
import { PROPERTIES_BYTES_MAX } from '../../protocol/message/record.js';
import { ClientError } from '../errors.js';
import type { OutgoingMessage } from '../message.js';
import { delayProperty, illegal } from './delay.js';

/** A message in the form in which it goes into a send request. */
export interface PreparedMessage {
  readonly topic: string;
  readonly body: Buffer;
  /** `name\u0001value\u0002…` */
  readonly properties: string;
  readonly sysFlag: number;
  readonly flag: number;
  readonly msgId: string;
  readonly batch: boolean;
  /** Only for sends to a retry topic. */
  readonly reconsumeTimes?: number;
  readonly maxReconsumeTimes?: number;
}

/** 4.9: DefaultMQProducer.compressLevel */
const DEFLATE_LEVEL = 5;
const deflateAsync = promisify(deflate);

/** Names that the system gives a meaning; 4.9: MessageConst.STRING_HASH_SET. */
const RESERVED: ReadonlySet<string> = new Set(Object.values(PropertyName));

/** The body as bytes. Throws ILLEGAL_MESSAGE when it is empty or too large. */
export function bodyOf(message: OutgoingMessage, bytesMax: number): Buffer {
  const { body } = message;
  const bytes =
    typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (bytes.length === 0) throw illegal(message.topic, 'the body is empty', 'send at least one byte');
  if (bytes.length > bytesMax)
    throw illegal(message.topic, `the body has ${bytes.length} bytes, the limit is ${bytesMax}`, 'send it in parts');
  return bytes;
}

/** All properties as they are sent. Throws ILLEGAL_MESSAGE for names or values that cannot be stored. */
export function propertiesOf(message: OutgoingMessage, msgId: string): Map<string, string> {
  const properties = new Map<string, string>();
  const keys = typeof message.keys === 'string' ? message.keys : message.keys?.join(' ');
  if (message.tag !== undefined) put(message.topic, properties, PropertyName.TAGS, message.tag);
  if (keys !== undefined && keys !== '') put(message.topic, properties, PropertyName.KEYS, keys);
  for (const [name, value] of Object.entries(message.properties ?? {})) {
    if (RESERVED.has(name)) throw illegal(message.topic, `the property name ${name} is used by the system`);
    put(message.topic, properties, name, value);
  }
  const delay = delayProperty(message);
  if (delay !== undefined) properties.set(...delay);
  properties.set(PropertyName.UNIQ_KEY, msgId);
  if (message.waitStore === false) properties.set(PropertyName.WAIT_STORE_MSG_OK, 'false');
  return properties;
}

function put(topic: string, properties: Map<string, string>, name: string, value: string): void {
  if (name.trim() === '') throw illegal(topic, 'a property has no name');
  if (typeof value !== 'string' || value.trim() === '')
    throw illegal(topic, `the property ${name} has no value`, 'leave it out, or give it some text');
  if (separated(name) || separated(value))
    throw illegal(
      topic,
      `the property ${name} holds one of the characters U+0001 and U+0002, which separate properties`,
    );
  properties.set(name, value);
}

const separated = (text: string): boolean => text.includes(NAME_VALUE_SEPARATOR) || text.includes(PROPERTY_SEPARATOR);

/** As 4.9 sends them. Throws ILLEGAL_MESSAGE when they do not fit into a record. */
export function propertyText(topic: string, properties: ReadonlyMap<string, string>): string {
  const text = formatProperties(properties);
  const bytes = Buffer.byteLength(text);
  if (bytes > PROPERTIES_BYTES_MAX)
    throw illegal(topic, `the properties have ${bytes} bytes in UTF-8, the limit is ${PROPERTIES_BYTES_MAX}`);
  return text;
}

/** A body of at least `overBytes` is compressed (zlib) when that makes it smaller. */
export async function compressed(body: Buffer, overBytes: number): Promise<{ body: Buffer; sysFlag: number }> {
  if (body.length < overBytes) return { body, sysFlag: 0 };
  const smaller = await deflateAsync(body, { level: DEFLATE_LEVEL });
  if (smaller.length >= body.length) return { body, sysFlag: 0 };
  return { body: smaller, sysFlag: withZlibFlags(0) };
}

/** The id stays with the message object: sending it again after a failure is a retry, not a new message. */
export class MessageIds {
  readonly #ids: UniqueIdGenerator;
  readonly #known = new WeakMap<OutgoingMessage, string>();

  constructor(ids: UniqueIdGenerator) {
    this.#ids = ids;
  }

  of(message: OutgoingMessage): string {
    let id = this.#known.get(message);
    if (id === undefined) {
      id = this.#ids.next();
      this.#known.set(message, id);
    }
    return id;
  }
}

export interface PrepareLimits {
  readonly bodyBytesMax: number;
  readonly compressOverBytes: number;
}

/** `halfOf`: the producer group whose half message it becomes, which nobody sees before it is committed. */
export async function prepare(
  message: OutgoingMessage,
  ids: MessageIds,
  limits: PrepareLimits,
  halfOf?: string,
): Promise<PreparedMessage> {
  const raw = bodyOf(message, limits.bodyBytesMax);
  const msgId = ids.of(message);
  const all = propertiesOf(message, msgId);
  if (halfOf !== undefined) {
    all.set(PropertyName.TRANSACTION_PREPARED, 'true');
    all.set(PropertyName.PRODUCER_GROUP, halfOf);
  }
  const properties = propertyText(message.topic, all);
  const { body, sysFlag: bodyFlags } = await compressed(raw, limits.compressOverBytes);
  const sysFlag = halfOf === undefined ? bodyFlags : bodyFlags | SysFlag.TRANSACTION_PREPARED;
  return { topic: message.topic, body, properties, sysFlag, flag: message.flag ?? 0, msgId, batch: false };
}

/** One request for several messages of one topic. Never compressed. 4.9: MessageBatch. */
export function prepareBatch(messages: readonly OutgoingMessage[], ids: MessageIds, bytesMax: number): PreparedMessage {
  const first = messages[0];
  if (first === undefined) throw new ClientError('ILLEGAL_MESSAGE', 'a batch needs at least one message');
  const parts: BatchMessage[] = [];
  const msgIds: string[] = [];
  for (const message of messages) {
    if (message.topic !== first.topic)
      throw illegal(first.topic, `the batch also holds one for topic ${message.topic}`);
    if ((message.waitStore ?? true) !== (first.waitStore ?? true))
      throw illegal(first.topic, 'all messages of a batch must have the same waitStore');
    if (delayProperty(message) !== undefined)
      throw illegal(first.topic, 'a batch cannot be delayed', 'send delayed messages one by one');
    const msgId = ids.of(message);
    const properties = propertyText(message.topic, propertiesOf(message, msgId));
    parts.push({ flag: message.flag ?? 0, body: bodyOf(message, bytesMax), properties });
    msgIds.push(msgId);
  }
  const body = encodeBatch(parts);
  if (body.length > bytesMax)
    throw illegal(
      first.topic,
      `the batch of ${messages.length} has ${body.length} bytes, the limit is ${bytesMax}`,
      'send smaller batches',
    );
  const wait: [string, string][] = first.waitStore === false ? [[PropertyName.WAIT_STORE_MSG_OK, 'false']] : [];
  const properties = formatProperties(new Map(wait));
  return { topic: first.topic, body, properties, sysFlag: 0, flag: 0, msgId: msgIds.join(','), batch: true };
}
