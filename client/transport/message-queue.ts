import type { MessageQueue } from '../../protocol/bodies/message-queue.js';
import type { TopicRouteData } from '../../protocol/bodies/route.js';
import { Perm } from '../../protocol/codes.js';

export type { MessageQueue } from '../../protocol/bodies/message-queue.js';

/** 4.9: MixAll.MASTER_ID. */
export const MASTER_ID = 0;

/** A key for maps; topic names hold no `@`. */
export const queueKey = (queue: MessageQueue): string => `${queue.topic}@${queue.brokerName}@${queue.queueId}`;

/** 4.9: MessageQueue#compareTo. Every member of a group must sort alike, or allocation overlaps. */
export function compareQueues(a: MessageQueue, b: MessageQueue): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1;
  if (a.brokerName !== b.brokerName) return a.brokerName < b.brokerName ? -1 : 1;
  return a.queueId - b.queueId;
}

/** The queues that may be written, of brokers with a master. 4.9: MQClientInstance#topicRouteData2TopicPublishInfo. */
export function writableQueues(topic: string, route: TopicRouteData): MessageQueue[] {
  const ordered = orderedQueues(topic, route.orderTopicConf);
  if (ordered !== undefined) return ordered;
  const withMaster = new Set(
    route.brokerDatas.filter((broker) => broker.brokerAddrs.has(MASTER_ID)).map((broker) => broker.brokerName),
  );
  return [...route.queueDatas]
    .sort((a, b) => (a.brokerName < b.brokerName ? -1 : a.brokerName > b.brokerName ? 1 : 0))
    .filter((data) => (data.perm & Perm.WRITE) !== 0 && withMaster.has(data.brokerName))
    .flatMap((data) => queuesOf(topic, data.brokerName, data.writeQueueNums));
}

/** The queues that may be read. 4.9: MQClientInstance#topicRouteData2TopicSubscribeInfo. */
export function readableQueues(topic: string, route: TopicRouteData): MessageQueue[] {
  return route.queueDatas
    .filter((data) => (data.perm & Perm.READ) !== 0)
    .flatMap((data) => queuesOf(topic, data.brokerName, data.readQueueNums));
}

/** More queues than any broker serves; a bound on what a hostile route can make us build. */
const QUEUES_MAX = 65_536;

function queuesOf(topic: string, brokerName: string, count: number): MessageQueue[] {
  return Array.from({ length: Math.min(Math.max(count, 0), QUEUES_MAX) }, (_, queueId) => ({
    topic,
    brokerName,
    queueId,
  }));
}

/** `broker:count;broker:count` from the name server's order configuration fixes the queues, whatever brokers are up. */
function orderedQueues(topic: string, config: string | undefined | null): MessageQueue[] | undefined {
  if (config === undefined || config === null || config === '') return undefined;
  return config.split(';').flatMap((entry) => {
    const [brokerName = '', count = '0'] = entry.split(':');
    return brokerName === '' ? [] : queuesOf(topic, brokerName, Number.parseInt(count, 10) || 0);
  });
}
