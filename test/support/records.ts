import type { NewMessage } from '../../plugins/commitlog/contract.js';
import { encodeRecord } from '../../protocol/message/record.js';

export interface TestRecord {
  readonly topic?: string;
  readonly queueId?: number;
  readonly queueOffset?: number;
  readonly physicalOffset: number;
  readonly storeTimestamp?: number;
  readonly sysFlag?: number;
  readonly bornTimestamp?: number;
  readonly preparedTransactionOffset?: number;
  readonly body?: Buffer;
  readonly properties?: string;
}

/** A stored record as the log holds it. */
export function testRecord(input: TestRecord): Buffer {
  return encodeRecord({
    topic: input.topic ?? 'T',
    queueId: input.queueId ?? 0,
    flag: 0,
    sysFlag: input.sysFlag ?? 0,
    bornTimestamp: input.bornTimestamp ?? 1_700_000_000_000,
    bornAddress: Buffer.from([10, 0, 0, 1]),
    bornPort: 1234,
    storeAddress: Buffer.from([127, 0, 0, 1]),
    storePort: 10911,
    reconsumeTimes: 0,
    preparedTransactionOffset: input.preparedTransactionOffset ?? 0,
    body: input.body ?? Buffer.from('body'),
    properties: input.properties ?? '',
    queueOffset: input.queueOffset ?? 0,
    physicalOffset: input.physicalOffset,
    storeTimestamp: input.storeTimestamp ?? 1_700_000_000_000,
  });
}

/** A message for MessageWriter. */
export function newMessage(changes: Partial<NewMessage> = {}): NewMessage {
  return {
    topic: 'T',
    queueId: 0,
    flag: 0,
    sysFlag: 0,
    bornTimestamp: 0,
    bornAddress: Buffer.alloc(4),
    bornPort: 0,
    reconsumeTimes: 0,
    preparedTransactionOffset: 0,
    body: Buffer.from('x'),
    properties: '',
    waitStore: true,
    ...changes,
  };
}
