/**
 * The record that says that a half message was ended (4.9: TransactionalMessageBridge#makeOpMessageInner): in queue 0 of
 * RMQ_SYS_TRANS_OP_HALF_TOPIC, tagged `d`, its body the half's queue offset in decimal digits.
 */
import { bytesOf } from '../copy.js';
import { setInt64 } from '../int64.js';
import { crc32 } from './crc.js';
import { SystemTopic } from './names.js';
import { BODY_CRC_AT, BORN_TIMESTAMP_AT, bodySizeAt, encodeRecord, SYS_FLAG_AT, TOTAL_SIZE_AT } from './record.js';

/** 4.9: TransactionalMessageUtil. */
export const OP_TAG_REMOVE = 'd';
export const OP_QUEUE_ID = 0;
/** As the bytes stand in 4.9.7's: its message was made with WAIT, and the text before it got a unique key. */
export const OP_PROPERTIES = `WAIT\u0001true\u0002TAGS\u0001${OP_TAG_REMOVE}`;

/** Writes op records; all but four fields is the same in each. */
export class OpRecord {
  readonly #template: Buffer;
  /** Where the body begins. */
  readonly #bodyAt: number;

  /**
   * The address is the broker's own, 4 or 16 bytes: it is who was born there, too. `noted` is a property more, `name\u0001value`, which 4.9
   * does not look at.
   */
  constructor(storeAddress: Uint8Array, storePort: number, noted = '') {
    const properties = noted === '' ? OP_PROPERTIES : `${OP_PROPERTIES}\u0002${noted}`;
    this.#template = encodeRecord({
      ...{ topic: SystemTopic.TRANS_OP_HALF, queueId: OP_QUEUE_ID, flag: 0, sysFlag: 0, bornTimestamp: 0 },
      ...{ bornAddress: storeAddress, bornPort: storePort, storeAddress, storePort },
      ...{ reconsumeTimes: 0, preparedTransactionOffset: 0, body: Buffer.alloc(0), properties },
    });
    this.#bodyAt = bodySizeAt(this.#template.readInt32BE(SYS_FLAG_AT)) + 4;
  }

  sizeFor(halfOffset: number): number {
    return this.#template.length + digitsOf(halfOffset);
  }

  /** Writes the record; the log's writer fills in the rest. */
  write(view: DataView, at: number, halfOffset: number, bornTimestamp: number): void {
    const bodyAt = at + this.#bodyAt;
    const digits = digitsOf(halfOffset);
    const target = bytesOf(view, at, at + this.#template.length + digits);
    target.set(this.#template);
    target.copyWithin(this.#bodyAt + digits, this.#bodyAt, this.#template.length);
    let rest = halfOffset;
    for (let to = this.#bodyAt + digits - 1; to >= this.#bodyAt; to--) {
      const high = Math.floor(rest / 10);
      target[to] = 0x30 + (rest - high * 10);
      rest = high;
    }
    view.setInt32(at + TOTAL_SIZE_AT, target.length);
    view.setInt32(at + BODY_CRC_AT, crc32(target, this.#bodyAt, this.#bodyAt + digits));
    setInt64(view, at + BORN_TIMESTAMP_AT, bornTimestamp);
    view.setInt32(bodyAt - 4, digits);
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits++;
  return digits;
}
