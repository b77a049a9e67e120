import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { encodeConsumeStats, type OffsetWrapper } from '../../protocol/bodies/consume-stats.js';
import { encodeGroupList } from '../../protocol/bodies/group-list.js';
import type { MessageQueue } from '../../protocol/bodies/message-queue.js';
import { encodeTopicStatsTable, type TopicOffset } from '../../protocol/bodies/topic-stats.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeGetConsumeStats } from '../../protocol/headers/get-consume-stats.js';
import { decodeGetTopicStatsInfo } from '../../protocol/headers/get-topic-stats-info.js';
import { decodeQueryTopicConsumeByWho } from '../../protocol/headers/query-topic-consume-by-who.js';
import { LogReader } from '../commitlog/contract.js';
import { Consumers } from '../groups/contract.js';
import { Offsets } from '../offsets/contract.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Topics } from '../topics/contract.js';

/** How far topics have grown and groups have come. */
@injectable()
export class StatsQueries {
  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Topics) private readonly topics: Topics,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Queues) private readonly queues: Queues,
    @inject(LogReader) private readonly log: LogReader,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.GET_TOPIC_STATS_INFO, (request) => this.#topicStats(request));
    router.handle(RequestCode.GET_CONSUME_STATS, (request) => this.#consumeStats(request));
    router.handle(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, (request) => this.#groupsOf(request));
  }

  async #topicStats({ ext }: Request): Promise<Reply> {
    const { topic } = decodeGetTopicStatsInfo(ext);
    const config = this.topics.get(topic);
    if (config === undefined) return { code: ResponseCode.TOPIC_NOT_EXIST, remark: `topic[${topic}] not exist` };
    const offsetTable: [MessageQueue, TopicOffset][] = [];
    for (let queueId = 0; queueId < config.writeQueueNums; queueId++) {
      const maxOffset = this.queues.maxOffset(topic, queueId);
      const lastUpdateTimestamp = maxOffset > 0 ? await this.#storedAt(topic, queueId, maxOffset - 1) : 0;
      const minOffset = this.queues.minOffset(topic, queueId);
      offsetTable.push([this.#queue(topic, queueId), { minOffset, maxOffset, lastUpdateTimestamp }]);
    }
    return { code: ResponseCode.SUCCESS, body: encodeTopicStatsTable({ offsetTable }) };
  }

  async #consumeStats({ ext }: Request): Promise<Reply> {
    const { consumerGroup: group, topic } = decodeGetConsumeStats(ext);
    const topics = topic === undefined || topic.trim() === '' ? this.offsets.topicsOf(group) : [topic];
    const offsetTable: [MessageQueue, OffsetWrapper][] = [];
    for (const each of topics) {
      const config = this.topics.get(each);
      if (config === undefined || !this.#subscribes(group, each)) continue;
      for (let queueId = 0; queueId < config.readQueueNums; queueId++)
        offsetTable.push([this.#queue(each, queueId), await this.#progress(group, each, queueId)]);
    }
    return { code: ResponseCode.SUCCESS, body: encodeConsumeStats({ offsetTable, consumeTps: 0 }) };
  }

  #groupsOf({ ext }: Request): Reply {
    const { topic } = decodeQueryTopicConsumeByWho(ext);
    const groups = new Set([...this.consumers.groupsOfTopic(topic), ...this.offsets.groupsOf(topic)]);
    return { code: ResponseCode.SUCCESS, body: encodeGroupList({ groupList: [...groups] }) };
  }

  /** While members are there, only what they subscribe to counts. */
  #subscribes(group: string, topic: string): boolean {
    const subscriptions = this.consumers.group(group)?.subscriptions;
    return subscriptions === undefined || subscriptions.size === 0 || subscriptions.has(topic);
  }

  async #progress(group: string, topic: string, queueId: number): Promise<OffsetWrapper> {
    const brokerOffset = this.queues.maxOffset(topic, queueId);
    const consumerOffset = Math.max(0, this.offsets.query(group, topic, queueId));
    const storedAt = consumerOffset > 0 ? await this.#storedAt(topic, queueId, consumerOffset - 1) : 0;
    return { brokerOffset, consumerOffset, lastTimestamp: Math.max(0, storedAt) };
  }

  async #storedAt(topic: string, queueId: number, offset: number): Promise<number> {
    const entry = this.queues.entry(topic, queueId, offset);
    return entry === undefined ? -1 : await this.log.storeTimestamp(entry.physicalOffset);
  }

  #queue(topic: string, queueId: number): MessageQueue {
    return { topic, brokerName: this.options.brokerName, queueId };
  }
}
