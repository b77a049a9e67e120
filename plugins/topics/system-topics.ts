import type { Options } from '../../kernel/tokens.js';
import type { TopicConfig } from '../../protocol/bodies/topic-config.js';
import { Perm } from '../../protocol/codes.js';
import { replyTopicOf, SystemTopic, systemTopics } from '../../protocol/message/names.js';

/** 4.9: TopicConfigManager.SCHEDULE_TOPIC_QUEUE_NUM, whatever the number of delay levels. */
const SCHEDULE_QUEUES = 18;
const BENCHMARK_QUEUES = 1024;
/** 4.9: TopicConfig.defaultReadQueueNums. */
const DEFAULT_QUEUES = 16;

const READ_WRITE = Perm.READ | Perm.WRITE;

function topic(topicName: string, queues: number, perm: number): TopicConfig {
  return {
    topicName,
    readQueueNums: queues,
    writeQueueNums: queues,
    perm,
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: 0,
    order: false,
  };
}

/** The topics that every broker has from its start (4.9: the constructor of TopicConfigManager; TIMER as in that of RocketMQ 5). */
export function startTopics(options: Options): TopicConfig[] {
  const named = (enabled: boolean): number => Perm.INHERIT | (enabled ? READ_WRITE : 0);
  const topics = [topic(SystemTopic.SELF_TEST, 1, READ_WRITE)];
  if (options.autoCreateTopicEnable) {
    topics.push(topic(SystemTopic.AUTO_CREATE, options.defaultTopicQueueNums, Perm.INHERIT | READ_WRITE));
  }
  topics.push(
    topic(SystemTopic.BENCHMARK, BENCHMARK_QUEUES, READ_WRITE),
    topic(options.brokerClusterName, DEFAULT_QUEUES, named(options.clusterTopicEnable)),
    topic(options.brokerName, 1, named(options.brokerTopicEnable)),
    topic(SystemTopic.OFFSET_MOVED_EVENT, 1, READ_WRITE),
    topic(SystemTopic.SCHEDULE, SCHEDULE_QUEUES, READ_WRITE),
    topic(SystemTopic.TIMER, 1, READ_WRITE),
  );
  if (options.traceTopicEnable) topics.push(topic(options.msgTraceTopicName, 1, READ_WRITE));
  topics.push(topic(replyTopicOf(options.brokerClusterName), 1, READ_WRITE));
  return topics;
}

/** 4.9: TopicValidator#getSystemTopicSet of a running broker. */
export function systemTopicNames(options: Options): ReadonlySet<string> {
  return new Set([...systemTopics, ...startTopics(options).map((config) => config.topicName)]);
}
