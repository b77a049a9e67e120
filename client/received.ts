import { messageOf } from '../kernel/base/errors.js';
import { plainBody } from '../protocol/message/body.js';
import { KEY_SEPARATOR, parseProperties, PropertyName } from '../protocol/message/properties.js';
import type { StoredMessage } from '../protocol/message/record.js';
import { isRetryTopic } from '../protocol/message/names.js';
import type { ReceivedMessage } from './message.js';

export interface Received {
  readonly message: ReceivedMessage;
  /** Why the body could not be decompressed; it is then as stored. */
  readonly bodyProblem: string | undefined;
}

/** A stored record as an application sees it. */
export function received(stored: StoredMessage, brokerName: string): Received {
  const properties = parseProperties(stored.properties);
  let body = stored.body;
  let bodyProblem: string | undefined;
  try {
    body = plainBody(stored.body, stored.sysFlag);
  } catch (error) {
    bodyProblem = messageOf(error);
  }
  const origin = isRetryTopic(stored.topic) ? properties.get(PropertyName.RETRY_TOPIC) : undefined;
  const message: ReceivedMessage = {
    topic: origin ?? stored.topic,
    body,
    tag: properties.get(PropertyName.TAGS),
    keys: (properties.get(PropertyName.KEYS) ?? '').split(KEY_SEPARATOR).filter((key) => key !== ''),
    properties,
    msgId: properties.get(PropertyName.UNIQ_KEY) ?? stored.msgId,
    offsetMsgId: stored.msgId,
    brokerName,
    queueId: stored.queueId,
    queueOffset: stored.queueOffset,
    commitLogOffset: stored.physicalOffset,
    reconsumeTimes: stored.reconsumeTimes,
    bornTimestamp: stored.bornTimestamp,
    storeTimestamp: stored.storeTimestamp,
    bornHost: stored.bornHost,
    storeHost: stored.storeHost,
    flag: stored.flag,
    sysFlag: stored.sysFlag,
    storeSize: stored.totalBytes,
  };
  return { message, bodyProblem };
}
