import { javaHashUtf8 } from '../../protocol/message/hash.js';
import { SysFlag } from '../../protocol/codes.js';
import { LastView } from '../../protocol/copy.js';
import { getInt64 } from '../../protocol/int64.js';
import { SystemTopic } from '../../protocol/message/names.js';
import {
  bodySizeAt,
  MAGIC_AT,
  MESSAGE_MAGIC,
  PHYSICAL_OFFSET_AT,
  PROPERTIES_BYTES_MAX,
  QUEUE_ID_AT,
  QUEUE_OFFSET_AT,
  storeTimestampAt,
  SYS_FLAG_AT,
  TOTAL_SIZE_AT,
} from '../../protocol/message/record.js';
import { RECORD_BYTES_MIN } from '../commitlog/record-layout.js';
import { deliverTimestamp } from './delay-levels.js';
import { readProperties } from './read-properties.js';
import { dueOfText } from './due.js';
import { TopicCache } from './topic-cache.js';

/**
 * What dispatching needs of one record (4.9: DispatchRequest). One object is used for all records: `readDispatch` overwrites it.
 * Ranges are positions in the buffer that was read; start = end = 0 when the record has no such property.
 */
export class DispatchFields {
  topic = '';
  queueId = 0;
  queueOffset = 0;
  physicalOffset = 0;
  /** Bytes of the whole record. */
  size = 0;
  sysFlag = 0;
  storeTimestamp = 0;
  preparedTransactionOffset = 0;
  /** The two halves of the 64-bit tags code, signed. */
  tagsHigh = 0;
  tagsLow = 0;
  bodyStart = 0;
  bodyEnd = 0;
  propertiesStart = 0;
  propertiesEnd = 0;
  tagsStart = 0;
  tagsEnd = 0;
  keysStart = 0;
  keysEnd = 0;
  uniqKeyStart = 0;
  uniqKeyEnd = 0;
  delayStart = 0;
  delayEnd = 0;
  timerOutStart = 0;
  timerOutEnd = 0;
  readonly topics = new TopicCache();
  readonly view = new LastView();

  /** `delayLevels`: see parseDelayLevels. */
  constructor(readonly delayLevels: readonly number[]) {}
}

/** Prepared and rolled-back transaction messages get no queue entry (4.9: CommitLogDispatcherBuildConsumeQueue#dispatch). */
export function isQueued(sysFlag: number): boolean {
  const transaction = sysFlag & SysFlag.TRANSACTION_ROLLBACK;
  return transaction !== SysFlag.TRANSACTION_PREPARED && transaction !== SysFlag.TRANSACTION_ROLLBACK;
}

/** Whether a queue may have this id and its offset, which becomes a place in a file. */
export function isQueuePlace(queueId: number, queueOffset: number): boolean {
  return queueId >= 0 && queueOffset >= 0 && queueOffset < 2 ** 48;
}

/**
 * Takes apart the record at `offset` of a buffer that holds all of it, which was stored at `physicalOffset`. Returns why it cannot be
 * dispatched, or undefined. Its checksum is not looked at. 4.9: CommitLog#checkMessageAndReturnSize
 */
export function readDispatch(
  buffer: Buffer,
  offset: number,
  physicalOffset: number,
  out: DispatchFields,
): string | undefined {
  const view = out.view.of(buffer);
  const available = buffer.length - offset;
  if (available < RECORD_BYTES_MIN || view.getInt32(offset + MAGIC_AT) !== MESSAGE_MAGIC)
    return 'no record begins here';
  const size = view.getInt32(offset + TOTAL_SIZE_AT);
  if (size < RECORD_BYTES_MIN || size > available) return `size ${size} does not fit`;
  if (getInt64(view, offset + PHYSICAL_OFFSET_AT) !== physicalOffset) return 'the record was stored elsewhere';
  const sysFlag = view.getInt32(offset + SYS_FLAG_AT);
  const end = offset + size;
  const bodyAt = offset + bodySizeAt(sysFlag);
  if (bodyAt + 7 > end) return `size ${size} does not fit its hosts`;
  const bodyEnd = bodyAt + 4 + view.getInt32(bodyAt);
  if (bodyEnd < bodyAt + 4 || bodyEnd + 3 > end) return 'the body length does not fit';
  const topicEnd = bodyEnd + 1 + view.getUint8(bodyEnd);
  if (topicEnd + 2 > end || end - topicEnd - 2 > PROPERTIES_BYTES_MAX) return 'the topic length does not fit';
  if (topicEnd + 2 + view.getInt16(topicEnd) !== end) return 'the properties length does not fit';
  const topic = out.topics.get(buffer, bodyEnd + 1, topicEnd);
  if (topic === undefined) return 'the topic is not a valid name';
  const queueId = view.getInt32(offset + QUEUE_ID_AT);
  const queueOffset = getInt64(view, offset + QUEUE_OFFSET_AT);
  if (!isQueuePlace(queueId, queueOffset)) return `queue ${queueId} or its offset ${queueOffset} is not valid`;
  out.topic = topic;
  out.queueId = queueId;
  out.queueOffset = queueOffset;
  out.physicalOffset = physicalOffset;
  out.size = size;
  out.sysFlag = sysFlag;
  out.storeTimestamp = getInt64(view, offset + storeTimestampAt(sysFlag));
  out.preparedTransactionOffset = getInt64(view, bodyAt - 8);
  out.bodyStart = bodyAt + 4;
  out.bodyEnd = bodyEnd;
  out.propertiesStart = topicEnd + 2;
  out.propertiesEnd = end;
  readProperties(view, topicEnd + 2, end, out);
  setTagsCode(buffer, out);
  return undefined;
}

function setTagsCode(buffer: Buffer, out: DispatchFields): void {
  const hash = out.tagsEnd === 0 ? 0 : javaHashUtf8(buffer, out.tagsStart, out.tagsEnd);
  out.tagsLow = hash;
  out.tagsHigh = hash >> 31;
  if (out.topic === SystemTopic.SCHEDULE) setDue(out, levelDue(buffer, out));
  else if (out.topic === SystemTopic.TIMER) setDue(out, timerDue(buffer, out));
}

function setDue(out: DispatchFields, due: number | undefined): void {
  if (due === undefined) return;
  out.tagsHigh = Math.floor(due / 4294967296) | 0;
  out.tagsLow = due | 0;
}

function timerDue(buffer: Buffer, { timerOutStart, timerOutEnd }: DispatchFields): number | undefined {
  return dueOfText(buffer.toString('latin1', timerOutStart, timerOutEnd));
}

function levelDue(buffer: Buffer, out: DispatchFields): number | undefined {
  if (out.delayEnd === 0) return undefined;
  const level = Math.min(parseLevel(buffer, out.delayStart, out.delayEnd), out.delayLevels.length);
  return level <= 0 ? undefined : deliverTimestamp(out.delayLevels, level, out.storeTimestamp);
}

/**
 * A level that is no number counts as none. 4.9 takes such a record for a damaged one and stops there, which loses the rest of the
 * log at the next start.
 */
function parseLevel(buffer: Buffer, start: number, end: number): number {
  const text = buffer.toString('latin1', start, end);
  return /^[+-]?\d{1,10}$/.test(text) ? Number(text) : 0;
}
