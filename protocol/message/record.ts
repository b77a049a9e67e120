/**
 * A stored message: the unit of the commit log, of pull answers and of the replication stream. 4.9: MessageDecoder, CommitLog.
 *
 *    0  int32  total size          36  int32  sysFlag
 *    4  int32  magic               40  int64  born timestamp, ms
 *    8  int32  body CRC            48  bytes  born host: 4 or 16 address bytes (sysFlag bit 4), int32 port
 *   12  int32  queue id                int64  store timestamp, ms
 *   16  int32  flag                    bytes  store host: 4 or 16 address bytes (sysFlag bit 5), int32 port
 *   20  int64  queue offset            int32  reconsume times
 *   28  int64  physical offset         int64  prepared transaction offset
 *                                      int32  body size, body;  int8 topic size, topic;  int16 properties size, properties
 */
import { SysFlag } from '../codes.js';
import { crc32 } from './crc.js';
import { ProtocolError } from '../errors.js';
import { readInt64, writeInt64 } from '../int64.js';
import { hostText } from './host.js';
import { createOffsetMessageId } from './message-id.js';

export const MESSAGE_MAGIC = -626843481;
/** Fills the rest of a log file that the next record does not fit into: its first word is the size of that rest. */
export const BLANK_MAGIC = -875286124;
/** The least space that must stay at a file's end for a filler: total size and magic. */
export const BLANK_BYTES_MIN = 8;

export const TOTAL_SIZE_AT = 0;
export const MAGIC_AT = 4;
export const BODY_CRC_AT = 8;
export const QUEUE_ID_AT = 12;
export const FLAG_AT = 16;
export const QUEUE_OFFSET_AT = 20;
export const PHYSICAL_OFFSET_AT = 28;
export const SYS_FLAG_AT = 36;
export const BORN_TIMESTAMP_AT = 40;
export const BORN_HOST_AT = 48;

export const TOPIC_BYTES_MAX = 127;
export const PROPERTIES_BYTES_MAX = 32767;

/** Of a host field, address and port. */
export function hostBytes(v6: boolean): 8 | 20 {
  return v6 ? 20 : 8;
}

export function bornHostBytes(sysFlag: number): 8 | 20 {
  return hostBytes((sysFlag & SysFlag.BORNHOST_V6) !== 0);
}

export function storeHostBytes(sysFlag: number): 8 | 20 {
  return hostBytes((sysFlag & SysFlag.STOREHOST_V6) !== 0);
}

/** Where the fields after the born host lie, by the record's sysFlag. */
export function storeTimestampAt(sysFlag: number): number {
  return BORN_HOST_AT + bornHostBytes(sysFlag);
}

export function storeHostAt(sysFlag: number): number {
  return storeTimestampAt(sysFlag) + 8;
}

export function reconsumeTimesAt(sysFlag: number): number {
  return storeHostAt(sysFlag) + storeHostBytes(sysFlag);
}

export function preparedTransactionOffsetAt(sysFlag: number): number {
  return reconsumeTimesAt(sysFlag) + 4;
}

export function bodySizeAt(sysFlag: number): number {
  return reconsumeTimesAt(sysFlag) + 12;
}

/** All of a record but body, topic and properties. */
export function RECORD_FIXED_BYTES(v6born: boolean, v6store: boolean): number {
  return BORN_HOST_AT + hostBytes(v6born) + 8 + hostBytes(v6store) + 4 + 8 + 4 + 1 + 2;
}

/** 4.9: CommitLog#calMsgLength. */
export function recordBytes(sysFlag: number, bodyBytes: number, topicBytes: number, propertiesBytes: number): number {
  return bodySizeAt(sysFlag) + 4 + bodyBytes + 1 + topicBytes + 2 + propertiesBytes;
}

export interface StoredMessage {
  /** Size of the record. */
  readonly totalBytes: number;
  readonly bodyCrc: number;
  readonly queueId: number;
  readonly flag: number;
  readonly queueOffset: number;
  readonly physicalOffset: number;
  readonly sysFlag: number;
  readonly bornTimestamp: number;
  /** `host:port`. */
  readonly bornHost: string;
  readonly storeTimestamp: number;
  readonly storeHost: string;
  readonly reconsumeTimes: number;
  readonly preparedTransactionOffset: number;
  /** As stored, perhaps compressed (see body.ts); shares the record's memory. */
  readonly body: Buffer;
  readonly topic: string;
  /** `name\u0001value\u0002…`, see properties.ts. */
  readonly properties: string;
  /** Offset message id: store host and physical offset in 32 hex digits, 56 for an IPv6 store host. */
  readonly msgId: string;
}

/** Reads the record at `offset`; throws ProtocolError when its sizes do not fit together or the buffer ends before it. */
export function decodeRecord(buffer: Buffer, offset: number): StoredMessage {
  const { sysFlag, bodyAt, bodyBytes, topicAt, topicBytes, propertiesAt, propertiesBytes, totalBytes } = measure(
    buffer,
    offset,
  );
  const storeTimestamp = offset + storeTimestampAt(sysFlag);
  const storeAddress = buffer.subarray(storeTimestamp + 8, storeTimestamp + 4 + storeHostBytes(sysFlag));
  const storePort = buffer.readInt32BE(storeTimestamp + 4 + storeHostBytes(sysFlag));
  const bornAddress = buffer.subarray(offset + BORN_HOST_AT, storeTimestamp - 4);
  const physicalOffset = readInt64(buffer, offset + PHYSICAL_OFFSET_AT);
  return {
    totalBytes,
    bodyCrc: buffer.readInt32BE(offset + BODY_CRC_AT),
    queueId: buffer.readInt32BE(offset + QUEUE_ID_AT),
    flag: buffer.readInt32BE(offset + FLAG_AT),
    queueOffset: readInt64(buffer, offset + QUEUE_OFFSET_AT),
    physicalOffset,
    sysFlag,
    bornTimestamp: readInt64(buffer, offset + BORN_TIMESTAMP_AT),
    bornHost: hostText(bornAddress, buffer.readInt32BE(storeTimestamp - 4)),
    storeTimestamp: readInt64(buffer, storeTimestamp),
    storeHost: hostText(storeAddress, storePort),
    reconsumeTimes: buffer.readInt32BE(offset + reconsumeTimesAt(sysFlag)),
    preparedTransactionOffset: readInt64(buffer, offset + preparedTransactionOffsetAt(sysFlag)),
    body: buffer.subarray(bodyAt, bodyAt + bodyBytes),
    topic: buffer.toString('utf8', topicAt, topicAt + topicBytes),
    properties: buffer.toString('utf8', propertiesAt, propertiesAt + propertiesBytes),
    msgId: createOffsetMessageId(storeAddress, storePort, physicalOffset),
  };
}

/** Reads records that follow each other without a gap, as a pull answer's body holds them. */
export function decodeRecords(buffer: Buffer, start = 0, end = buffer.length): StoredMessage[] {
  const messages: StoredMessage[] = [];
  for (let at = start; at < end;) {
    const message = decodeRecord(at === 0 && end === buffer.length ? buffer : buffer.subarray(0, end), at);
    messages.push(message);
    at += message.totalBytes;
  }
  return messages;
}

/** Where the parts of variable size of the record at an offset lie, as absolute positions in the buffer. */
export interface RecordLayout {
  readonly totalBytes: number;
  readonly sysFlag: number;
  readonly bodyAt: number;
  readonly bodyBytes: number;
  readonly topicAt: number;
  readonly topicBytes: number;
  readonly propertiesAt: number;
  readonly propertiesBytes: number;
}

/** Checks that the sizes in the record at `offset` fit together and into the buffer; throws ProtocolError. */
export function measure(buffer: Buffer, offset: number): RecordLayout {
  const left = buffer.length - offset;
  if (left < RECORD_FIXED_BYTES(false, false)) throw new ProtocolError(`record of ${left} bytes is cut off`);
  if (buffer.readInt32BE(offset + MAGIC_AT) !== MESSAGE_MAGIC) throw new ProtocolError('record has no message magic');
  const totalBytes = buffer.readInt32BE(offset + TOTAL_SIZE_AT);
  if (totalBytes > left) throw new ProtocolError(`record of ${totalBytes} bytes is cut off after ${left}`);
  const sysFlag = buffer.readInt32BE(offset + SYS_FLAG_AT);
  const bodyAt = offset + bodySizeAt(sysFlag) + 4;
  const end = offset + totalBytes;
  if (bodyAt + 3 > end) throw new ProtocolError(`record of ${totalBytes} bytes is shorter than its fixed part`);
  const bodyBytes = buffer.readInt32BE(bodyAt - 4);
  const topicAt = bodyAt + bodyBytes + 1;
  if (bodyBytes < 0 || topicAt + 2 > end)
    throw new ProtocolError(`record body of ${bodyBytes} bytes passes the record`);
  const topicBytes = buffer.readInt8(topicAt - 1);
  const propertiesAt = topicAt + topicBytes + 2;
  if (topicBytes < 0 || propertiesAt > end)
    throw new ProtocolError(`record topic of ${topicBytes} bytes passes the record`);
  const propertiesBytes = buffer.readInt16BE(propertiesAt - 2);
  if (propertiesBytes < 0 || propertiesAt + propertiesBytes !== end) {
    throw new ProtocolError(`record sizes do not add up to its ${totalBytes} bytes`);
  }
  return { totalBytes, sysFlag, bodyAt, bodyBytes, topicAt, topicBytes, propertiesAt, propertiesBytes };
}

export interface RecordInput {
  readonly topic: string | Uint8Array;
  readonly queueId: number;
  readonly flag: number;
  /** The two host bits are set from the addresses' lengths. */
  readonly sysFlag: number;
  readonly bornTimestamp: number;
  /** 4 or 16 bytes. */
  readonly bornAddress: Uint8Array;
  readonly bornPort: number;
  readonly storeAddress: Uint8Array;
  readonly storePort: number;
  readonly reconsumeTimes: number;
  readonly preparedTransactionOffset: number;
  readonly body: Uint8Array;
  readonly properties: string | Uint8Array;
  /** Filled in by whoever appends, when left out here. */
  readonly queueOffset?: number;
  readonly physicalOffset?: number;
  readonly storeTimestamp?: number;
}

/** The record as a buffer of its own. Throws RangeError for a topic or properties too long for their size fields. */
export function encodeRecord(input: RecordInput): Buffer {
  const topic = typeof input.topic === 'string' ? Buffer.from(input.topic) : input.topic;
  const properties = typeof input.properties === 'string' ? Buffer.from(input.properties) : input.properties;
  const fixed = RECORD_FIXED_BYTES(input.bornAddress.length === 16, input.storeAddress.length === 16);
  const target = Buffer.allocUnsafe(fixed + input.body.length + topic.length + properties.length);
  writeRecord(target, 0, { ...input, topic, properties });
  return target;
}

/** Writes the record into `target` at `at` and returns the position after it. The space must have been checked. */
export function writeRecord(
  target: Buffer,
  at: number,
  input: RecordInput & { readonly topic: Uint8Array; readonly properties: Uint8Array },
): number {
  const { topic, properties, body, bornAddress, storeAddress } = input;
  if (topic.length > TOPIC_BYTES_MAX) throw new RangeError(`topic of ${topic.length} bytes does not fit a record`);
  if (properties.length > PROPERTIES_BYTES_MAX) {
    throw new RangeError(`properties of ${properties.length} bytes do not fit a record`);
  }
  const sysFlag = withHostFlags(input.sysFlag, bornAddress.length === 16, storeAddress.length === 16);
  target.writeInt32BE(recordBytes(sysFlag, body.length, topic.length, properties.length), at);
  target.writeInt32BE(MESSAGE_MAGIC, at + MAGIC_AT);
  target.writeInt32BE(crc32(body), at + BODY_CRC_AT);
  target.writeInt32BE(input.queueId, at + QUEUE_ID_AT);
  target.writeInt32BE(input.flag, at + FLAG_AT);
  writeInt64(target, input.queueOffset ?? 0, at + QUEUE_OFFSET_AT);
  writeInt64(target, input.physicalOffset ?? 0, at + PHYSICAL_OFFSET_AT);
  target.writeInt32BE(sysFlag, at + SYS_FLAG_AT);
  writeInt64(target, input.bornTimestamp, at + BORN_TIMESTAMP_AT);
  let to = writeHost(target, bornAddress, input.bornPort, at + BORN_HOST_AT);
  to = writeInt64(target, input.storeTimestamp ?? 0, to);
  to = writeHost(target, storeAddress, input.storePort, to);
  to = target.writeInt32BE(input.reconsumeTimes, to);
  to = writeInt64(target, input.preparedTransactionOffset, to);
  to = writeBytes(target, body, target.writeInt32BE(body.length, to));
  to = writeBytes(target, topic, target.writeInt8(topic.length, to));
  return writeBytes(target, properties, target.writeInt16BE(properties.length, to));
}

export function withHostFlags(sysFlag: number, v6born: boolean, v6store: boolean): number {
  return (
    (sysFlag & ~(SysFlag.BORNHOST_V6 | SysFlag.STOREHOST_V6)) |
    (v6born ? SysFlag.BORNHOST_V6 : 0) |
    (v6store ? SysFlag.STOREHOST_V6 : 0)
  );
}

function writeHost(target: Buffer, address: Uint8Array, port: number, at: number): number {
  return target.writeInt32BE(port, writeBytes(target, address, at));
}

function writeBytes(target: Buffer, bytes: Uint8Array, at: number): number {
  target.set(bytes, at);
  return at + bytes.length;
}
