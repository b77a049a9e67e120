import { LogReader } from '../../plugins/commitlog/contract.js';
import { RequestCode, SysFlag } from '../../protocol/codes.js';
import { encodeEndTransaction, type EndTransactionRequestHeader } from '../../protocol/headers/end-transaction.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { decodeRecord, type StoredMessage } from '../../protocol/message/record.js';
import type { Serialize } from '../../protocol/command.js';
import type { Answer, RawClient } from './raw-client.js';
import { propertyText, send, type Sent, type SendWish } from './send-pull.js';
import type { TestBroker } from './test-broker.js';

export const COMMIT = SysFlag.TRANSACTION_COMMIT;
export const ROLLBACK = SysFlag.TRANSACTION_ROLLBACK;
export const UNKNOWN = SysFlag.TRANSACTION_NOT;

/** A half as its producer knows it. */
export interface Half {
  readonly queueOffset: number;
  readonly physicalOffset: number;
}

export const HALF_PROPERTIES = { TRAN_MSG: 'true', PGROUP: 'PG', UNIQ_KEY: 'U1' } as const;

/** Sends the first half of a transaction of group PG, as the Java client does. */
export function sendHalf(
  client: RawClient,
  wish: Omit<SendWish, 'properties'> & { readonly properties?: Readonly<Record<string, string>> } = {},
): Promise<Sent> {
  const properties = propertyText({ ...HALF_PROPERTIES, ...wish.properties });
  return send(client, { sysFlag: SysFlag.TRANSACTION_PREPARED, ...wish, properties });
}

export function halfOf({ header }: Sent): Half {
  return {
    queueOffset: header.queueOffset,
    physicalOffset: Number(Buffer.from(header.msgId, 'hex').readBigInt64BE(8)),
  };
}

export function endExt(
  half: Half,
  commitOrRollback: number,
  wish: Partial<EndTransactionRequestHeader> = {},
  serialize?: Serialize,
): Answer['ext'] {
  return encodeEndTransaction(
    {
      producerGroup: 'PG',
      tranStateTableOffset: half.queueOffset,
      commitLogOffset: half.physicalOffset,
      commitOrRollback,
      fromTransactionCheck: false,
      msgId: 'U1',
      ...wish,
    },
    serialize,
  );
}

/** Ends it and waits for the answer. */
export function end(
  client: RawClient,
  half: Half,
  commitOrRollback: number,
  wish: Partial<EndTransactionRequestHeader> = {},
): Promise<Answer> {
  return client.ask(RequestCode.END_TRANSACTION, { ext: endExt(half, commitOrRollback, wish) });
}

/** What the log holds of a topic, in order; read from the log itself, so that no queue has to be there. */
export async function stored(broker: TestBroker, topic: string): Promise<StoredMessage[]> {
  const log = broker.get(LogReader);
  const segmentBytes = broker.options.mappedFileSizeCommitLog;
  const found: StoredMessage[] = [];
  for (let at = log.minOffset; at < log.maxOffset;) {
    const record = await log.record(at);
    if (record === undefined) {
      // The rest of a file holds none.
      at += segmentBytes - (at % segmentBytes);
      continue;
    }
    const message = decodeRecord(record, 0);
    if (message.topic === topic) found.push(message);
    at += message.totalBytes;
  }
  return found;
}

/** Queue offsets of the halves that were noted as ended, in order. */
export async function ended(broker: TestBroker): Promise<number[]> {
  return (await stored(broker, SystemTopic.TRANS_OP_HALF)).map(({ body }) => Number(body.toString()));
}
