import { SystemTopic, topicProblem } from '../../protocol/message/names.js';
import { BORN_HOST_AT, decodeRecord, storeTimestampAt } from '../../protocol/message/record.js';
import { parseProperties, PropertyName } from '../../protocol/message/properties.js';
import type { NewMessage } from '../commitlog/contract.js';

/** Why a delayed record can never be delivered. */
export interface Undeliverable {
  readonly problem: string;
}

/** The message that a delayed record becomes when it is due (4.9: ScheduleMessageService#messageTimeup): its properties stay as they are. */
export function dueMessage(record: Buffer): NewMessage | Undeliverable {
  const stored = decodeRecord(record, 0);
  const properties = parseProperties(stored.properties);
  const topic = properties.get(PropertyName.REAL_TOPIC) ?? '';
  const queueId = Number(properties.get(PropertyName.REAL_QUEUE_ID) ?? NaN);
  const problem = topicProblem(topic);
  if (problem !== undefined) return { problem };
  if (!Number.isInteger(queueId) || queueId < 0) return { problem: 'its queue id is no number' };
  if (topic === SystemTopic.TRANS_HALF || topic === SystemTopic.SCHEDULE) return { problem: `its topic is ${topic}` };
  const bornEnd = storeTimestampAt(stored.sysFlag);
  const { flag, sysFlag, bornTimestamp, reconsumeTimes, body } = stored;
  return {
    topic,
    queueId,
    flag,
    sysFlag,
    bornTimestamp,
    bornAddress: record.subarray(BORN_HOST_AT, bornEnd - 4),
    bornPort: record.readInt32BE(bornEnd - 4),
    reconsumeTimes,
    preparedTransactionOffset: 0,
    body,
    properties: stored.properties,
    waitStore: false,
  };
}
