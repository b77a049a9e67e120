import { writeInt64 } from '../../protocol/int64.js';
import {
  BODY_CRC_AT,
  BORN_HOST_AT,
  BORN_TIMESTAMP_AT,
  FLAG_AT,
  MAGIC_AT,
  MESSAGE_MAGIC,
  PHYSICAL_OFFSET_AT,
  QUEUE_ID_AT,
  QUEUE_OFFSET_AT,
  SYS_FLAG_AT,
  recordBytes,
  withHostFlags,
} from '../../protocol/message/record.js';

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
   * Writes everything before the body and returns where the body goes. Queue offset, physical offset and store time stay zero: the
   * log's writer fills them in.
   */
  write(target: Buffer, at: number, totalBytes: number, bodyCrc: number, bodyBytes: number): number {
    target.writeInt32BE(totalBytes, at);
    target.writeInt32BE(MESSAGE_MAGIC, at + MAGIC_AT);
    target.writeInt32BE(bodyCrc, at + BODY_CRC_AT);
    target.writeInt32BE(this.queueId, at + QUEUE_ID_AT);
    target.writeInt32BE(this.flag, at + FLAG_AT);
    writeInt64(target, 0, at + QUEUE_OFFSET_AT);
    writeInt64(target, 0, at + PHYSICAL_OFFSET_AT);
    target.writeInt32BE(this.#storedSysFlag(), at + SYS_FLAG_AT);
    writeInt64(target, this.bornTimestamp, at + BORN_TIMESTAMP_AT);
    let to = this.#writeHost(target, at + BORN_HOST_AT, this.bornAddress, this.bornPort);
    to = writeInt64(target, 0, to);
    to = this.#writeHost(target, to, this.storeAddress, this.storePort);
    to = target.writeInt32BE(this.reconsumeTimes, to);
    to = writeInt64(target, 0, to);
    return target.writeInt32BE(bodyBytes, to);
  }

  #storedSysFlag(): number {
    return withHostFlags(this.sysFlag, this.bornAddress.length === 16, this.storeAddress.length === 16);
  }

  #writeHost(target: Buffer, at: number, address: Uint8Array, port: number): number {
    for (let i = 0; i < address.length; i++) target[at + i] = address[i];
    return target.writeInt32BE(port, at + address.length);
  }
}
