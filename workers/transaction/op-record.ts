import { OP_PROPERTIES, OP_TAG_REMOVE, OpRecord } from '../../protocol/message/op-record.js';
import { measure } from '../../protocol/message/record.js';
import { propertyOf, PropertyName } from '../../protocol/message/properties.js';
import type { TransactionBoot } from './contract.js';

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

/** Undefined when it is not one. */
export function readOp(record: Buffer): Op | undefined {
  const { bodyAt, bodyBytes, propertiesAt } = measure(record, 0);
  const half = digits(record, bodyAt, bodyAt + bodyBytes);
  const properties = record.toString('latin1', propertiesAt);
  if (half < 0 || (properties !== OP_PROPERTIES && propertyOf(properties, PropertyName.TAGS) !== OP_TAG_REMOVE))
    return undefined;
  return { half, own: properties !== OP_PROPERTIES && propertyOf(properties, OWN) !== undefined };
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

/** The service's own ops, by why they are written. */
export function ownOps({ address, port }: TransactionBoot['host']): Readonly<Record<OpReason, OpRecord>> {
  const noting = (reason: OpReason): OpRecord => new OpRecord(address, port, `${OWN}\u0001${reason}`);
  return { putBack: noting('putBack'), expired: noting('expired'), decided: noting('decided') };
}
