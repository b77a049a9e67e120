import { inject, injectable } from '../../kernel/container.js';
import { Clock, Options } from '../../kernel/tokens.js';
import { Perm, ResponseCode, SysFlag, Version } from '../../protocol/codes.js';
import { NO_LIMIT } from '../../protocol/headers/send-message-fast.js';
import {
  deadLetterTopicOf,
  groupOf,
  isRetryTopic,
  isSendForbidden,
  topicProblem,
} from '../../protocol/message/names.js';
import { AppendGate } from '../commitlog/contract.js';
import { SubscriptionGroups } from '../groups/contract.js';
import { Topics } from '../topics/contract.js';
import type { SendStep, SendWork } from './work.js';

/** Topic system flag of a retry topic in unit mode (4.9: TopicSysFlag). */
const UNIT_SUB = 2;

/**
 * Everything a send must pass before it is encoded, in the order in which it happens (4.9: AbstractSendMessageProcessor#msgCheck,
 * SendMessageProcessor#handleRetryAndDLQ).
 */
@injectable()
export class SendSteps {
  readonly all: readonly SendStep[] = [
    (work) => this.#brokerServes(work),
    (work) => this.#topicMaySend(work),
    (work) => this.#topicExists(work),
    (work) => this.#queueExists(work),
    (work) => this.#retriesAreLeft(work),
    (work) => this.#bodyFits(work),
  ];

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Topics) private readonly topics: Topics,
    @inject(SubscriptionGroups) private readonly groups: SubscriptionGroups,
    @inject(AppendGate) private readonly gate: AppendGate,
  ) {}

  #brokerServes(work: SendWork): boolean {
    const { startAcceptSendRequestTimeStamp: from, pendingSendsMax } = this.options;
    if (from > 0 && this.clock.wallMs() < from)
      return work.refuse(
        ResponseCode.SYSTEM_ERROR,
        `broker unable to service, until ${from} (startAcceptSendRequestTimeStamp)`,
      );
    const readOnly = this.gate.readOnlyReason;
    if (readOnly !== undefined)
      return work.refuse(ResponseCode.SERVICE_NOT_AVAILABLE, `service not available now: ${readOnly}`);
    if (this.gate.waiting >= pendingSendsMax)
      return work.refuse(
        ResponseCode.SYSTEM_BUSY,
        `${pendingSendsMax} sends wait for the disk already (pendingSendsMax)`,
      );
    return true;
  }

  #topicMaySend(work: SendWork): boolean {
    work.topic = work.fields.topicText();
    if (isSendForbidden(work.topic))
      return work.refuse(ResponseCode.NO_PERMISSION, `Sending message to topic[${work.topic}] is forbidden.`);
    const config = this.topics.get(work.topic);
    if (config === undefined) {
      const problem = topicProblem(work.topic);
      if (problem !== undefined) return work.refuse(ResponseCode.SYSTEM_ERROR, problem);
    } else if ((this.options.brokerPermission & Perm.WRITE) === 0 && config.order) {
      return work.refuse(
        ResponseCode.NO_PERMISSION,
        `the broker[${this.options.brokerIP1}] sending message is forbidden`,
      );
    }
    return true;
  }

  #topicExists(work: SendWork): boolean {
    const config = this.topics.get(work.topic) ?? this.#created(work);
    if (config === undefined)
      return work.refuse(ResponseCode.TOPIC_NOT_EXIST, `topic[${work.topic}] not exist, apply first please!`);
    work.config = config;
    work.topicSaved = this.topics.unsaved(work.topic);
    return true;
  }

  #created(work: SendWork): ReturnType<Topics['createOnSend']> {
    const { fields, topic, connection } = work;
    const template = fields.defaultTopicText();
    const created = this.topics.createOnSend(
      topic,
      template,
      fields.defaultTopicQueueNums,
      connection.remote,
      fields.unitMode,
    );
    if (created !== undefined || !isRetryTopic(topic)) return created;
    return this.topics.createInternal(topic, 1, Perm.READ | Perm.WRITE, fields.unitMode ? UNIT_SUB : 0);
  }

  #queueExists(work: SendWork): boolean {
    const { config, fields } = work;
    const { queueId } = fields;
    if (queueId >= Math.max(config.writeQueueNums, config.readQueueNums)) {
      const shown = `${config.topicName} has ${config.writeQueueNums} write and ${config.readQueueNums} read queues`;
      return work.refuse(
        ResponseCode.SYSTEM_ERROR,
        `request queueId[${queueId}] is illegal, ${shown}, Producer: ${work.connection.remote}`,
      );
    }
    if (queueId < 0 && config.writeQueueNums <= 0)
      return work.refuse(ResponseCode.SYSTEM_ERROR, `topic[${work.topic}] has no write queues`);
    work.queueId = queueId < 0 ? Math.floor(Math.random() * config.writeQueueNums) : queueId;
    work.answeredQueueId = work.queueId;
    work.sysFlag = fields.sysFlag | (config.topicFilterType === 'MULTI_TAG' ? SysFlag.MULTI_TAGS : 0);
    return true;
  }

  /** A message that comes back for the last time goes to the group's dead letters instead. */
  #retriesAreLeft(work: SendWork): boolean {
    if (!isRetryTopic(work.topic)) return true;
    const { fields, request } = work;
    const group = groupOf(work.topic) ?? '';
    const settings = this.groups.find(group);
    if (settings === undefined)
      return work.refuse(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, `subscription group not exist, ${group}`);
    const own = request.version >= Version.V3_4_9 && fields.maxReconsumeTimes !== NO_LIMIT;
    if (fields.reconsumeTimes < (own ? fields.maxReconsumeTimes : settings.retryMaxTimes)) return true;
    work.topic = deadLetterTopicOf(group);
    work.config = this.topics.createInternal(work.topic, 1, Perm.READ | Perm.WRITE, 0);
    work.topicSaved = this.topics.unsaved(work.topic);
    work.queueId = 0;
    return true;
  }

  #bodyFits(work: SendWork): boolean {
    const { request } = work;
    if (request.bodyEnd - request.bodyStart <= this.options.maxMessageSize) return true;
    return work.refuse(ResponseCode.MESSAGE_ILLEGAL, illegal(this.options.maxMessageSize));
  }
}

/** 4.9: SendMessageProcessor#handlePutMessageResult. */
export function illegal(maxMessageSize: number): string {
  return (
    'the message is illegal, maybe msg body or properties length not matched. ' +
    `msg body length limit ${maxMessageSize}B, msg properties length limit 32KB.`
  );
}
