import { PHYSICAL_OFFSET_AT, RECORD_FIXED_BYTES, storeTimestampAt } from '../../protocol/message/record.js';

/** A record with empty body, topic and properties and IPv4 hosts. */
export const RECORD_BYTES_MIN = RECORD_FIXED_BYTES(false, false);

/** As much as holds the store time, whatever the hosts. */
export const RECORD_TIME_BYTES = storeTimestampAt(-1) + 8;

/** Up to and with the physical offset: as much of a record as tells whether one begins here. */
export const RECORD_HEAD_BYTES = PHYSICAL_OFFSET_AT + 8;
