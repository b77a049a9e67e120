import { decodeConsumeStats, type OffsetWrapper } from '../../protocol/bodies/consume-stats.js';
import { decodeKVTable } from '../../protocol/bodies/kv-table.js';
import type { QueueTable } from '../../protocol/bodies/message-queue.js';
import { decodeClusterInfo, type ClusterInfo, type TopicRouteData } from '../../protocol/bodies/route.js';
import { decodeTopicStatsTable, type TopicOffset } from '../../protocol/bodies/topic-stats.js';
import { Perm, RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeGetConsumeStats } from '../../protocol/headers/get-consume-stats.js';
import { encodeGetTopicStatsInfo } from '../../protocol/headers/get-topic-stats-info.js';
import { encodeUpdateAndCreateTopic } from '../../protocol/headers/update-and-create-topic.js';
import { encodeViewMessageById } from '../../protocol/headers/view-message-by-id.js';
import { decodeOffsetMessageId } from '../../protocol/message/message-id.js';
import { retryTopicOf } from '../../protocol/message/names.js';
import { decodeRecord } from '../../protocol/message/record.js';
import { messageOf } from '../../kernel/base/errors.js';
import { ClientError } from '../errors.js';
import type { ReceivedMessage } from '../message.js';
import { checkGroup, checkTopic } from '../names.js';
import { received } from '../received.js';
import { ClientCore, type ClientOptions } from '../transport/client-core.js';
import { MASTER_ID, type MessageQueue } from '../transport/message-queue.js';
import { maxOffset, minOffset, searchOffset } from '../transport/queue-offsets.js';
import { refused } from '../transport/transport.js';

export interface CreateTopicOptions {
  /** Default 8. */
  readonly readQueues?: number;
  /** Default 8. */
  readonly writeQueues?: number;
  /** Bits of `Perm`; default READ | WRITE (6). */
  readonly perm?: number;
  /** Keep the number of queues fixed for ordered use. Default false. */
  readonly order?: boolean;
  /** On all masters of this cluster; needed when there are several. */
  readonly cluster?: string;
  /** On this broker alone, `host:port`. */
  readonly broker?: string;
}

/** Looks at and changes topics, groups and brokers. Needs no start; `close` ends its connections. Rejects with ClientError. */
export class AdminClient implements AsyncDisposable {
  readonly #core: ClientCore;

  constructor(options: ClientOptions) {
    this.#core = new ClientCore(options);
  }

  /** Creates a topic, or changes one that exists. */
  async createTopic(topic: string, options: CreateTopicOptions = {}): Promise<void> {
    checkTopic(topic);
    const call = {
      code: RequestCode.UPDATE_AND_CREATE_TOPIC,
      ext: encodeUpdateAndCreateTopic({
        topic,
        defaultTopic: 'TBW102',
        readQueueNums: options.readQueues ?? 8,
        writeQueueNums: options.writeQueues ?? 8,
        perm: options.perm ?? Perm.READ | Perm.WRITE,
        topicFilterType: 'SINGLE_TAG',
        topicSysFlag: 0,
        order: options.order ?? false,
      }),
    };
    const brokers = options.broker === undefined ? await this.#mastersOf(options.cluster) : [options.broker];
    for (const address of brokers) await this.#core.transport.request(address, call, this.#core.requestTimeoutMs);
  }

  /** Where a topic's queues are; undefined when it does not exist. */
  topicRoute(topic: string): Promise<TopicRouteData | undefined> {
    return this.#core.routes.peek(topic);
  }

  /** All brokers that are registered, by name and by cluster. */
  async clusterInfo(): Promise<ClusterInfo> {
    const call = { code: RequestCode.GET_BROKER_CLUSTER_INFO };
    const answer = await this.#core.nameServers.invoke(call, this.#core.requestTimeoutMs);
    if (answer.code !== ResponseCode.SUCCESS) throw refused('the name server', call.code, answer);
    return decodeClusterInfo(answer.body);
  }

  /** Smallest and next offset of each queue; with `broker` (`host:port`) of that one alone, without asking a name server. */
  async topicStats(topic: string, broker?: string): Promise<QueueTable<TopicOffset>> {
    const call = { code: RequestCode.GET_TOPIC_STATS_INFO, ext: encodeGetTopicStatsInfo({ topic }) };
    const { transport, requestTimeoutMs } = this.#core;
    const answers =
      broker === undefined
        ? await this.#fromMasters(topic, call)
        : [(await transport.request(broker, call, requestTimeoutMs)).body];
    return answers.flatMap((body) => decodeTopicStatsTable(body).offsetTable);
  }

  /** How far a group is in each queue, of one topic or of all; and messages per second. */
  async consumeStats(group: string, topic?: string): Promise<{ offsets: QueueTable<OffsetWrapper>; tps: number }> {
    checkGroup(group);
    const ext = encodeGetConsumeStats({ consumerGroup: group, ...(topic === undefined ? {} : { topic }) });
    const retryTopic = retryTopicOf(group);
    const known = topic === undefined || (await this.topicRoute(retryTopic)) !== undefined;
    const answers = await this.#fromMasters(known ? retryTopic : topic, { code: RequestCode.GET_CONSUME_STATS, ext });
    const stats = answers.map(decodeConsumeStats);
    return {
      offsets: stats.flatMap(({ offsetTable }) => offsetTable),
      tps: stats.reduce((sum, { consumeTps }) => sum + consumeTps, 0),
    };
  }

  /** The broker's figures by name, as 4.9 names them. `broker` is `host:port`. */
  async brokerRuntimeInfo(broker: string): Promise<ReadonlyMap<string, string>> {
    const call = { code: RequestCode.GET_BROKER_RUNTIME_INFO };
    return decodeKVTable((await this.#core.transport.request(broker, call, this.#core.requestTimeoutMs)).body);
  }

  /** The message with this offset message id. Rejects with ILLEGAL_ARGUMENT for another id, with REFUSED when it is gone. */
  async viewMessage(offsetMsgId: string): Promise<ReceivedMessage> {
    const { host, port, physicalOffset } = offsetId(offsetMsgId);
    const call = { code: RequestCode.VIEW_MESSAGE_BY_ID, ext: encodeViewMessageById({ offset: physicalOffset }) };
    const answer = await this.#core.transport.request(`${host}:${port}`, call, this.#core.requestTimeoutMs);
    return received(decodeRecord(answer.body, 0), '').message;
  }

  /** Offset after the newest message of a queue. */
  maxOffset(queue: MessageQueue): Promise<number> {
    return maxOffset(this.#core, queue);
  }

  /** Offset of the oldest message still there. */
  minOffset(queue: MessageQueue): Promise<number> {
    return minOffset(this.#core, queue);
  }

  /** Offset of the first message stored at a time (milliseconds since the epoch) or later. */
  searchOffset(queue: MessageQueue, timestampMs: number): Promise<number> {
    return searchOffset(this.#core, queue, timestampMs);
  }

  async close(): Promise<void> {
    await this.#core.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #mastersOf(cluster: string | undefined): Promise<string[]> {
    const info = await this.clusterInfo();
    const clusters = [...info.clusterAddrTable.keys()];
    const chosen = cluster ?? (clusters.length === 1 ? clusters[0] : undefined);
    if (chosen === undefined)
      throw new ClientError(
        'ILLEGAL_ARGUMENT',
        `there are ${clusters.length} clusters: ${clusters.join(', ') || 'none'}`,
        {
          remedy: clusters.length === 0 ? 'start a broker' : 'name one of them',
        },
      );
    const masters = (info.clusterAddrTable.get(chosen) ?? [])
      .map((name) => info.brokerAddrTable.get(name)?.brokerAddrs.get(MASTER_ID))
      .filter((address) => address !== undefined);
    if (masters.length === 0) throw new ClientError('NO_BROKER', `cluster ${chosen} has no master broker`);
    return masters;
  }

  async #fromMasters(topic: string, call: { code: number; ext: Record<string, string> }): Promise<Buffer[]> {
    const route = await this.topicRoute(topic);
    if (route === undefined) throw new ClientError('NO_ROUTE', `topic ${topic} does not exist`);
    const masters = route.brokerDatas
      .map(({ brokerAddrs }) => brokerAddrs.get(MASTER_ID))
      .filter((address) => address !== undefined);
    const { transport, requestTimeoutMs } = this.#core;
    return Promise.all(masters.map(async (address) => (await transport.request(address, call, requestTimeoutMs)).body));
  }
}

function offsetId(id: string): ReturnType<typeof decodeOffsetMessageId> {
  try {
    return decodeOffsetMessageId(id);
  } catch (error) {
    throw new ClientError('ILLEGAL_ARGUMENT', messageOf(error), { cause: error });
  }
}
