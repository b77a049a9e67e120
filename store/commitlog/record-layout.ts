/** The part of a record's layout that the log's stations look at; all of it is in protocol/message/record. */
import {
  MAGIC_AT,
  PHYSICAL_OFFSET_AT,
  QUEUE_OFFSET_AT,
  RECORD_FIXED_BYTES,
  SYS_FLAG_AT,
  TOTAL_SIZE_AT,
} from '../../protocol/message/record.js';

export { readInt64 as readLong } from '../../protocol/int64.js';
export { BLANK_BYTES_MIN as FILLER_BYTES, storeTimestampAt } from '../../protocol/message/record.js';

/** Offsets of the fields that the log itself reads or fills in. */
export const At = {
  totalSize: TOTAL_SIZE_AT,
  magic: MAGIC_AT,
  queueOffset: QUEUE_OFFSET_AT,
  physicalOffset: PHYSICAL_OFFSET_AT,
  sysFlag: SYS_FLAG_AT,
} as const;

/** A record with empty body, topic and properties and IPv4 hosts. */
export const RECORD_BYTES_MIN = RECORD_FIXED_BYTES(false, false);

/** Up to and with the physical offset: as much of a record as tells whether one begins here. */
export const RECORD_HEAD_BYTES = PHYSICAL_OFFSET_AT + 8;
