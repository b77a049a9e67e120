import { SystemTopic } from '../../protocol/message/names.js';
import { measure, recordBytes, withHostFlags, writeRecord } from '../../protocol/message/record.js';
import { propertyOf, PropertyName } from '../../protocol/message/properties.js';
import type { TransactionBoot } from './contract.js';

/** Every op is a removal: of the half from those that are open (4.9: TransactionalMessageUtil.REMOVETAG). */
const TAG = 'd';
/** The property by which this service knows its own ops, which say nothing about how a transaction ended; 4.9 does not look at it. */
const OWN = 'TRAN_CHECK';

/** Why the service writes an op. */
export type OpReason = 'putBack' | 'expired' | 'decided';

export interface Op {
  /** Queue offset of the half. */
  readonly half: number;
  /** Written by this service. */
  readonly own: boolean;
}

/** What ops hold that are not this service's own. */
const PLAIN = propertiesText();

/** Undefined when it is not one. */
export function readOp(record: Buffer): Op | undefined {
  const { bodyAt, bodyBytes, propertiesAt } = measure(record, 0);
  const half = digits(record, bodyAt, bodyAt + bodyBytes);
  const properties = record.toString('latin1', propertiesAt);
  if (half < 0 || (properties !== PLAIN && propertyOf(properties, PropertyName.TAGS) !== TAG)) return undefined;
  return { half, own: properties !== PLAIN && propertyOf(properties, OWN) !== undefined };
}

function digits(record: Buffer, start: number, end: number): number {
  if (end - start < 1 || end - start > 15) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = record[at] - 0x30;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Writes op records as 4.9 does, with a property of this service's behind the others (4.9: TransactionalMessageBridge). */
export class OpWriter {
  readonly topic = Buffer.from(SystemTopic.TRANS_OP_HALF);
  readonly #host: TransactionBoot['host'];

  constructor(host: TransactionBoot['host']) {
    this.#host = host;
  }

  sizeOf(half: number, reason: OpReason): number {
    const v6 = this.#host.address.length === 16;
    const flags = withHostFlags(0, v6, v6);
    return recordBytes(flags, String(half).length, this.topic.length, propertiesOf(reason).length);
  }

  write(target: Buffer, at: number, half: number, reason: OpReason, nowMs: number): void {
    const { address, port } = this.#host;
    writeRecord(target, at, {
      topic: this.topic,
      queueId: 0,
      flag: 0,
      sysFlag: 0,
      bornTimestamp: nowMs,
      bornAddress: address,
      bornPort: port,
      storeAddress: address,
      storePort: port,
      reconsumeTimes: 0,
      preparedTransactionOffset: 0,
      body: Buffer.from(String(half)),
      properties: propertiesOf(reason),
    });
  }
}

function propertiesText(): string {
  return `${PropertyName.WAIT_STORE_MSG_OK}\u0001true\u0002${PropertyName.TAGS}\u0001${TAG}`;
}

function propertiesOf(reason: OpReason): Buffer {
  return Buffer.from(`${PLAIN}\u0002${OWN}\u0001${reason}`);
}
