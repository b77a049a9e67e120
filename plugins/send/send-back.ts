import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import type { SubscriptionGroupConfig } from '../../protocol/bodies/subscription-group.js';
import { Perm, ResponseCode, Version } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import {
  decodeConsumerSendMsgBack,
  type ConsumerSendMsgBackRequestHeader,
} from '../../protocol/headers/consumer-send-msg-back.js';
import { decodeRecord, type StoredMessage } from '../../protocol/message/record.js';
import { deadLetterTopicOf, groupProblem, retryTopicOf } from '../../protocol/message/names.js';
import { formatProperties, parseProperties, PropertyName } from '../../protocol/message/properties.js';
import { addressBytes } from '../../protocol/message/host.js';
import { LogReader, MessageWriter, type AppendResult, type NewMessage } from '../commitlog/contract.js';
import { SubscriptionGroups } from '../groups/contract.js';
import type { Reply } from '../remoting/contract.js';
import { Delays } from '../schedule/contract.js';
import { Topics } from '../topics/contract.js';

/** 4.9: TopicSysFlag#buildSysFlag(false, true). */
const UNIT_SUB = 2;
/** Levels 1 and 2 are left out for retries. */
const FIRST_RETRY_LEVEL = 3;

/** Where a message that was not consumed goes. */
interface Destination {
  readonly topic: string;
  readonly queueId: number;
  /** 0: at once. */
  readonly delayLevel: number;
}

/** CONSUMER_SEND_MSG_BACK (36): a copy for the group's retry topic after a delay, or for its dead letters (4.9: SendMessageProcessor). */
@injectable()
export class SendBack {
  constructor(
    @inject(Options) private readonly options: Options,
    @inject(SubscriptionGroups) private readonly groups: SubscriptionGroups,
    @inject(Topics) private readonly topics: Topics,
    @inject(LogReader) private readonly log: LogReader,
    @inject(MessageWriter) private readonly writer: MessageWriter,
    @inject(Delays) private readonly delays: Delays,
  ) {}

  async handle(request: Request): Promise<Reply> {
    const header = decodeConsumerSendMsgBack(request.ext);
    const problem = groupProblem(header.group);
    if (problem !== undefined) return { code: ResponseCode.SYSTEM_ERROR, remark: problem };
    const group = this.groups.find(header.group);
    if (group === undefined)
      return {
        code: ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        remark: `subscription group not exist, ${header.group}`,
      };
    if ((this.options.brokerPermission & Perm.WRITE) === 0)
      return {
        code: ResponseCode.NO_PERMISSION,
        remark: `the broker[${this.options.brokerIP1}] sending message is forbidden`,
      };
    if (group.retryQueueNums <= 0) return { code: ResponseCode.SUCCESS };
    const retryTopic = this.#topic(retryTopicOf(header.group), group.retryQueueNums, header.unitMode ? UNIT_SUB : 0);
    if ((retryTopic.perm & Perm.WRITE) === 0)
      return {
        code: ResponseCode.NO_PERMISSION,
        remark: `the topic[${retryTopic.topicName}] sending message is forbidden`,
      };
    const record = await this.log.record(header.offset);
    if (record === undefined)
      return { code: ResponseCode.SYSTEM_ERROR, remark: `look message by offset failed, ${header.offset}` };
    const message = decodeRecord(record, 0);
    const to = this.#destination(header, request.version, group, message);
    const topicSaved = this.topics.unsaved(to.topic);
    const result = await this.writer.append(this.#copy(message, to));
    // Without it the message is stored, and nobody could read it after a crash. Rejects: answered as an error.
    await topicSaved;
    return replyOf(result);
  }

  #topic(topic: string, queueNums: number, sysFlag: number): ReturnType<Topics['createInternal']> {
    return this.topics.createInternal(topic, queueNums, Perm.READ | Perm.WRITE, sysFlag);
  }

  #destination(
    header: ConsumerSendMsgBackRequestHeader,
    version: number,
    group: SubscriptionGroupConfig,
    { reconsumeTimes }: StoredMessage,
  ): Destination {
    const own = version >= Version.V3_4_9 ? header.maxReconsumeTimes : undefined;
    if (reconsumeTimes >= (own ?? group.retryMaxTimes) || header.delayLevel < 0) {
      const { topicName: topic } = this.#topic(deadLetterTopicOf(header.group), 1, 0);
      return { topic, queueId: 0, delayLevel: 0 };
    }
    const queueId = Math.floor(Math.random() * group.retryQueueNums);
    const delayLevel = header.delayLevel === 0 ? FIRST_RETRY_LEVEL + reconsumeTimes : header.delayLevel;
    return { topic: retryTopicOf(header.group), queueId, delayLevel };
  }

  #copy(message: StoredMessage, to: Destination): NewMessage {
    const properties = parseProperties(message.properties);
    if (!properties.has(PropertyName.RETRY_TOPIC)) properties.set(PropertyName.RETRY_TOPIC, message.topic);
    // Stored like this by 4.9; this answer waits for the store all the same.
    properties.set(PropertyName.WAIT_STORE_MSG_OK, 'false');
    const level = this.delays.clamp(to.delayLevel);
    properties.set(PropertyName.DELAY_TIME_LEVEL, String(level));
    if ((properties.get(PropertyName.ORIGIN_MESSAGE_ID) ?? '').trim() === '')
      properties.set(PropertyName.ORIGIN_MESSAGE_ID, message.msgId);
    const place = level > 0 ? this.delays.place(to.topic, to.queueId, level) : { ...to, noted: {} };
    for (const [name, value] of Object.entries(place.noted)) properties.set(name, value);
    const { topic, queueId } = place;
    const { flag, sysFlag, bornTimestamp, reconsumeTimes, body } = message;
    const born = splitHost(message.bornHost);
    return {
      topic,
      queueId,
      flag,
      sysFlag,
      bornTimestamp,
      bornAddress: addressBytes(born.host),
      bornPort: born.port,
      reconsumeTimes: reconsumeTimes + 1,
      preparedTransactionOffset: 0,
      body,
      properties: formatProperties(properties),
      waitStore: true,
    };
  }
}

function replyOf({ status, reason }: AppendResult): Reply {
  return status === 'stored'
    ? { code: ResponseCode.SUCCESS }
    : { code: ResponseCode.SYSTEM_ERROR, remark: `${status}: ${reason}` };
}

/** `host:port`, an IPv6 host in brackets. */
function splitHost(text: string): { host: string; port: number } {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}
