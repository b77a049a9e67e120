import { setInt64 } from '../../protocol/int64.js';
import {
  BORN_HOST_AT,
  BORN_TIMESTAMP_AT,
  FLAG_AT,
  MAGIC_AT,
  MESSAGE_MAGIC,
  QUEUE_ID_AT,
  SYS_FLAG_AT,
  recordBytes,
  withHostFlags,
} from '../../protocol/message/record.js';

const STORE_TIMESTAMP_BYTES = 8;

/**
 * The fixed part of the records of one request, filled in again for each: the path of every send makes no object for it. Addresses
 * are 4 or 16 bytes.
 */
export class RecordHead {
  queueId = 0;
  flag = 0;
  sysFlag = 0;
  bornTimestamp = 0;
  bornAddress: Uint8Array = new Uint8Array(4);
  bornPort = 0;
  reconsumeTimes = 0;

  constructor(
    private readonly storeAddress: Uint8Array,
    private readonly storePort: number,
  ) {}

  /** Bytes of a record with parts of these sizes. */
  recordBytes(bodyBytes: number, topicBytes: number, propertiesBytes: number): number {
    return recordBytes(this.#storedSysFlag(), bodyBytes, topicBytes, propertiesBytes);
  }

  /**
   * Writes everything before the body but its checksum, and returns where the body goes. Queue offset, physical offset and store time
   * are left to the log's writer.
   */
  write(target: DataView, at: number, totalBytes: number, bodyBytes: number): number {
    target.setInt32(at, totalBytes);
    target.setInt32(at + MAGIC_AT, MESSAGE_MAGIC);
    target.setInt32(at + QUEUE_ID_AT, this.queueId);
    target.setInt32(at + FLAG_AT, this.flag);
    target.setInt32(at + SYS_FLAG_AT, this.#storedSysFlag());
    setInt64(target, at + BORN_TIMESTAMP_AT, this.bornTimestamp);
    let to = setHost(target, at + BORN_HOST_AT, this.bornAddress, this.bornPort);
    to = setHost(target, to + STORE_TIMESTAMP_BYTES, this.storeAddress, this.storePort);
    target.setInt32(to, this.reconsumeTimes);
    setInt64(target, to + 4, 0);
    target.setInt32(to + 12, bodyBytes);
    return to + 16;
  }

  #storedSysFlag(): number {
    return withHostFlags(this.sysFlag, this.bornAddress.length === 16, this.storeAddress.length === 16);
  }
}

function setHost(target: DataView, at: number, address: Uint8Array, port: number): number {
  for (let i = 0; i < address.length; i += 4)
    target.setInt32(at + i, (address[i] << 24) | (address[i + 1] << 16) | (address[i + 2] << 8) | address[i + 3]);
  target.setInt32(at + address.length, port);
  return at + address.length + 4;
}
