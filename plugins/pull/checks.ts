import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import type { SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import type { SubscriptionGroupConfig } from '../../protocol/bodies/subscription-group.js';
import { Perm, PullSysFlag, ResponseCode } from '../../protocol/codes.js';
import type { PullMessageRequestHeader } from '../../protocol/headers/pull-message.js';
import { isRetryTopic } from '../../protocol/message/names.js';
import { ConsumerFilters } from '../filter/bitmap/contract.js';
import { FilterError, FilterRegistry, type CompiledFilter } from '../filter/contract.js';
import { Consumers, SubscriptionGroups } from '../groups/contract.js';
import type { Connection, Reply } from '../remoting/contract.js';
import { Topics } from '../topics/contract.js';

/** A pull that may go on: what it is filtered by, and the group's settings. */
export interface CheckedPull {
  readonly header: PullMessageRequestHeader;
  readonly group: SubscriptionGroupConfig;
  readonly filter: CompiledFilter;
}

/** Thrown by a check; becomes the answer. */
class Refused extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Everything a pull must pass before the store is asked (4.9: PullMessageProcessor#processRequest). */
@injectable()
export class PullChecks {
  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Topics) private readonly topics: Topics,
    @inject(SubscriptionGroups) private readonly groups: SubscriptionGroups,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(FilterRegistry) private readonly filters: FilterRegistry,
    @inject(ConsumerFilters) private readonly groupFilters: ConsumerFilters,
  ) {
    consumers.listen(groupFilters);
  }

  check(header: PullMessageRequestHeader, connection: Connection): CheckedPull | Reply {
    try {
      const group = this.#group(header);
      this.#topic(header, connection);
      return { header, group, filter: this.#filter(header, group) };
    } catch (error) {
      if (error instanceof Refused) return { code: error.code, remark: error.message, ext: {} };
      throw error;
    }
  }

  #group({ consumerGroup }: PullMessageRequestHeader): SubscriptionGroupConfig {
    if ((this.options.brokerPermission & Perm.READ) === 0)
      throw new Refused(
        ResponseCode.NO_PERMISSION,
        `the broker[${this.options.brokerIP1}] pulling message is forbidden`,
      );
    const group = this.groups.find(consumerGroup);
    if (group === undefined)
      throw new Refused(
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        `subscription group [${consumerGroup}] does not exist`,
      );
    if (!group.consumeEnable)
      throw new Refused(ResponseCode.NO_PERMISSION, `subscription group no permission, ${consumerGroup}`);
    return group;
  }

  #topic({ topic, queueId }: PullMessageRequestHeader, connection: Connection): void {
    const config = this.topics.get(topic);
    if (config === undefined)
      throw new Refused(ResponseCode.TOPIC_NOT_EXIST, `topic[${topic}] not exist, apply first please!`);
    if ((config.perm & Perm.READ) === 0)
      throw new Refused(ResponseCode.NO_PERMISSION, `the topic[${topic}] pulling message is forbidden`);
    if (queueId < 0 || queueId >= config.readQueueNums)
      throw new Refused(
        ResponseCode.SYSTEM_ERROR,
        `queueId[${queueId}] is illegal, topic:[${topic}] topicConfig.readQueueNums:[${config.readQueueNums}] consumer:[${connection.remote}]`,
      );
  }

  #filter(header: PullMessageRequestHeader, group: SubscriptionGroupConfig): CompiledFilter {
    const own = (header.sysFlag & PullSysFlag.SUBSCRIPTION) !== 0;
    if (own) return this.#compiled(header.expressionType, header.subscription ?? '', OWN_EXPRESSION_BAD);
    const subscription = this.#registered(header, group);
    const compiled = this.#compiled(subscription.expressionType, subscription.subString, REGISTERED_EXPRESSION_BAD);
    const filter = this.groupFilters.narrowed(header.consumerGroup, subscription, compiled);
    return this.options.filterSupportRetry && isRetryTopic(header.topic) ? this.#ofRealTopic(header, filter) : filter;
  }

  #registered(header: PullMessageRequestHeader, group: SubscriptionGroupConfig): SubscriptionData {
    const members = this.consumers.group(header.consumerGroup);
    if (members === undefined)
      throw new Refused(ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's group info not exist");
    if (!group.consumeBroadcastEnable && members.habits.messageModel === 'BROADCASTING')
      throw new Refused(
        ResponseCode.NO_PERMISSION,
        `the consumer group[${header.consumerGroup}] can not consume by broadcast way`,
      );
    const subscription = members.subscriptions.get(header.topic);
    if (subscription === undefined)
      throw new Refused(ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's subscription not exist");
    if (subscription.subVersion < header.subVersion)
      throw new Refused(ResponseCode.SUBSCRIPTION_NOT_LATEST, "the consumer's subscription not latest");
    return subscription;
  }

  #compiled(type: string | undefined, expression: string, bad: { code: number; remark: string }): CompiledFilter {
    const plugin = this.filters.get(type);
    if (plugin === undefined || (plugin.rule.expressionType === 'SQL92' && !this.options.enablePropertyFilter))
      throw new Refused(ResponseCode.SYSTEM_ERROR, `The broker does not support consumer to filter message by ${type}`);
    try {
      return this.filters.compile(type, expression);
    } catch (error) {
      if (error instanceof FilterError) throw new Refused(bad.code, `${bad.remark}: ${error.message}`);
      throw error;
    }
  }

  /** filterSupportRetry: a message that comes back passes the filter of the topic it came from (4.9: ExpressionForRetryMessageFilter). */
  #ofRealTopic({ consumerGroup }: PullMessageRequestHeader, filter: CompiledFilter): CompiledFilter {
    return {
      ...filter,
      matches: (properties) => {
        const topic = properties.get('RETRY_TOPIC');
        const real = topic === undefined ? undefined : this.consumers.subscription(consumerGroup, topic);
        if (real === undefined || this.filters.get(real.expressionType) === undefined) return true;
        return this.filters.compile(real.expressionType, real.subString).matches?.(properties) ?? true;
      },
    };
  }
}

const OWN_EXPRESSION_BAD = {
  code: ResponseCode.SUBSCRIPTION_PARSE_FAILED,
  remark: "parse the consumer's subscription failed",
};
const REGISTERED_EXPRESSION_BAD = {
  code: ResponseCode.FILTER_DATA_NOT_EXIST,
  remark: "The broker's consumer filter data is not exist!Your expression may be wrong!",
};
