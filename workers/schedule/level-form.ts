import { isDelayTopic, SystemTopic } from '../../protocol/message/names.js';
import type { RecordLayout } from '../../protocol/message/record.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { TopicCache } from '../../store/dispatch/topic-cache.js';
import type { Form, Outgoing } from './source.js';
import { PropertyFinder } from './property-finder.js';

/** A delayed message as it is stored when it is due: where its properties say, which stay as they are (4.9: ScheduleMessageService#messageTimeup). */
export class LevelForm implements Form {
  readonly #topics = new TopicCache();
  readonly #topic = new PropertyFinder(PropertyName.REAL_TOPIC);
  readonly #queueId = new PropertyFinder(PropertyName.REAL_QUEUE_ID);

  fill(record: Buffer, { propertiesAt, propertiesBytes }: RecordLayout, out: Outgoing): string | undefined {
    const end = propertiesAt + propertiesBytes;
    const topicProperty = this.#topic;
    if (!topicProperty.find(record, propertiesAt, end)) return 'it has no property REAL_TOPIC';
    const topic = this.#topics.get(record, topicProperty.start, topicProperty.end);
    if (topic === undefined) return 'its property REAL_TOPIC is no valid name';
    if (topic === SystemTopic.TRANS_HALF || isDelayTopic(topic)) return `its topic is ${topic}`;
    const queueId = this.#queueId.find(record, propertiesAt, end)
      ? parseQueueId(record, this.#queueId.start, this.#queueId.end)
      : -1;
    if (queueId < 0) return 'its property REAL_QID is no queue id';
    out.topic = topic;
    out.queueId = queueId;
    out.properties = record;
    out.propertiesStart = propertiesAt;
    out.propertiesEnd = end;
    return undefined;
  }
}

/** -1 for what is no number from 0 to 2^31 - 1. */
function parseQueueId(bytes: Buffer, start: number, end: number): number {
  if (end - start > 10) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = bytes[at] - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value <= 0x7fffffff ? value : -1;
}
