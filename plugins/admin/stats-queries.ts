import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { encodeConsumeStats, encodeConsumeStatsList, type ConsumeStats } from '../../protocol/bodies/consume-stats.js';
import { encodeGroupList } from '../../protocol/bodies/group-list.js';
import type { MessageQueue } from '../../protocol/bodies/message-queue.js';
import { encodeTopicStatsTable, type TopicOffset } from '../../protocol/bodies/topic-stats.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeGetBrokerConsumeStats } from '../../protocol/headers/get-broker-consume-stats.js';
import { decodeGetConsumeStats } from '../../protocol/headers/get-consume-stats.js';
import { decodeGetTopicStatsInfo } from '../../protocol/headers/get-topic-stats-info.js';
import { decodeQueryTopicConsumeByWho } from '../../protocol/headers/query-topic-consume-by-who.js';
import { Consumers, SubscriptionGroups } from '../groups/contract.js';
import { GroupRates } from '../metrics/contract.js';
import { Offsets } from '../offsets/contract.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Topics } from '../topics/contract.js';
import { Progress } from './progress.js';

/** How far topics have grown and groups have come. */
@injectable()
export class StatsQueries {
  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Topics) private readonly topics: Topics,
    @inject(SubscriptionGroups) private readonly groups: SubscriptionGroups,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Queues) private readonly queues: Queues,
    @inject(GroupRates) private readonly rates: GroupRates,
    @inject(Progress) private readonly progress: Progress,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.GET_TOPIC_STATS_INFO, (request) => this.#topicStats(request));
    router.handle(RequestCode.GET_CONSUME_STATS, (request) => this.#consumeStats(request));
    router.handle(RequestCode.GET_BROKER_CONSUME_STATS, (request) => this.#brokerConsumeStats(request));
    router.handle(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, (request) => this.#groupsOf(request));
  }

  async #topicStats({ ext }: Request): Promise<Reply> {
    const { topic } = decodeGetTopicStatsInfo(ext);
    const config = this.topics.get(topic);
    if (config === undefined) return { code: ResponseCode.TOPIC_NOT_EXIST, remark: `topic[${topic}] not exist` };
    const offsetTable: [MessageQueue, TopicOffset][] = [];
    for (let queueId = 0; queueId < config.writeQueueNums; queueId++) {
      const maxOffset = this.queues.maxOffset(topic, queueId);
      const lastUpdateTimestamp = maxOffset > 0 ? await this.progress.storedAt(topic, queueId, maxOffset - 1) : 0;
      const minOffset = this.queues.minOffset(topic, queueId);
      offsetTable.push([this.progress.queue(topic, queueId), { minOffset, maxOffset, lastUpdateTimestamp }]);
    }
    return { code: ResponseCode.SUCCESS, body: encodeTopicStatsTable({ offsetTable }) };
  }

  async #consumeStats({ ext }: Request): Promise<Reply> {
    const { consumerGroup: group, topic } = decodeGetConsumeStats(ext);
    const topics = topic === undefined || topic.trim() === '' ? this.offsets.topicsOf(group) : [topic];
    const all: ConsumeStats[] = [];
    for (const each of topics) {
      const stats = await this.#statsOf(group, each, this.topics.get(each)?.readQueueNums);
      if (stats !== undefined) all.push(stats);
    }
    const body = encodeConsumeStats({
      offsetTable: all.flatMap(({ offsetTable }) => offsetTable),
      consumeTps: all.reduce((sum, { consumeTps }) => sum + consumeTps, 0),
    });
    return { code: ResponseCode.SUCCESS, body };
  }

  /** 4.9: fetchAllConsumeStatsInBroker: every group that there is, by topic; its queues are those that can be written. */
  async #brokerConsumeStats({ ext }: Request): Promise<Reply> {
    const { isOrder } = decodeGetBrokerConsumeStats(ext);
    const byGroup = new Map([...this.groups.all().keys()].map((group) => [group, [] as ConsumeStats[]]));
    let totalDiff = 0;
    for (const [topic, config] of [...this.topics.all()]) {
      if (isOrder && !config.order) continue;
      for (const group of this.offsets.groupsOf(topic)) {
        const list = byGroup.get(group);
        const stats = list && (await this.#statsOf(group, topic, config.writeQueueNums));
        if (stats === undefined) continue;
        list?.push(stats);
        for (const [, { brokerOffset, consumerOffset }] of stats.offsetTable)
          totalDiff += brokerOffset - consumerOffset;
      }
    }
    const consumeStatsList = [...byGroup].map((entry) => new Map([entry]));
    const brokerAddr = `${this.options.brokerIP1}:${this.options.listenPort}`;
    return { code: ResponseCode.SUCCESS, body: encodeConsumeStatsList({ consumeStatsList, brokerAddr, totalDiff }) };
  }

  /** Undefined for a topic that does not exist, or that the members do not subscribe to. */
  async #statsOf(group: string, topic: string, queues: number | undefined): Promise<ConsumeStats | undefined> {
    if (queues === undefined || !this.progress.subscribes(group, topic)) return undefined;
    const offsetTable: ConsumeStats['offsetTable'][number][] = [];
    for (let queueId = 0; queueId < queues; queueId++)
      offsetTable.push([this.progress.queue(topic, queueId), await this.progress.of(group, topic, queueId)]);
    return { offsetTable, consumeTps: this.rates.of(group, topic) };
  }

  #groupsOf({ ext }: Request): Reply {
    const { topic } = decodeQueryTopicConsumeByWho(ext);
    const groups = new Set([...this.consumers.groupsOfTopic(topic), ...this.offsets.groupsOf(topic)]);
    return { code: ResponseCode.SUCCESS, body: encodeGroupList({ groupList: [...groups] }) };
  }
}
