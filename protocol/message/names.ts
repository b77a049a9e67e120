/** Names of topics and groups: what 4.9 accepts, which belong to the system, which are made from others. */

export const TOPIC_LENGTH_MAX = 127;
/** So that `%RETRY%` and the group still make a topic of at most 127 characters (B32). */
export const GROUP_LENGTH_MAX = 120;

export const RETRY_PREFIX = '%RETRY%';
export const DLQ_PREFIX = '%DLQ%';
export const LMQ_PREFIX = '%LMQ%';
export const SYSTEM_TOPIC_PREFIX = 'rmq_sys_';
export const SYSTEM_GROUP_PREFIX = 'CID_RMQ_SYS_';
export const REPLY_TOPIC_SUFFIX = 'REPLY_TOPIC';

/** 4.9: TopicValidator. */
export const SystemTopic = {
  /** Template of topics that are created on first send. */
  AUTO_CREATE: 'TBW102',
  SCHEDULE: 'SCHEDULE_TOPIC_XXXX',
  /** Messages with a delivery time of their own, by the name that RocketMQ 5 gives it. */
  TIMER: 'rmq_sys_wheel_timer',
  BENCHMARK: 'BenchmarkTest',
  TRANS_HALF: 'RMQ_SYS_TRANS_HALF_TOPIC',
  TRACE: 'RMQ_SYS_TRACE_TOPIC',
  TRANS_OP_HALF: 'RMQ_SYS_TRANS_OP_HALF_TOPIC',
  TRANS_CHECK_MAX_TIME: 'TRANS_CHECK_MAX_TIME_TOPIC',
  SELF_TEST: 'SELF_TEST_TOPIC',
  OFFSET_MOVED_EVENT: 'OFFSET_MOVED_EVENT',
} as const;

export const systemTopics: ReadonlySet<string> = new Set(Object.values(SystemTopic));

/** Topics that no client may send to. */
export const sendForbiddenTopics: ReadonlySet<string> = new Set([
  SystemTopic.SCHEDULE,
  SystemTopic.TIMER,
  SystemTopic.TRANS_HALF,
  SystemTopic.TRANS_OP_HALF,
  SystemTopic.TRANS_CHECK_MAX_TIME,
  SystemTopic.SELF_TEST,
  SystemTopic.OFFSET_MOVED_EVENT,
]);

const legal = /^[%|a-zA-Z0-9_-]+$/;
const blank = /^\s*$/;

/** Why the topic is refused, in the words of 4.9: TopicValidator#validateTopic; undefined for a good one. */
export function topicProblem(topic: string): string | undefined {
  if (blank.test(topic)) return 'The specified topic is blank.';
  if (!legal.test(topic)) return 'The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$';
  if (topic.length > TOPIC_LENGTH_MAX) return 'The specified topic is longer than topic max length.';
  return undefined;
}

export function isValidTopic(topic: string): boolean {
  return topicProblem(topic) === undefined;
}

/** Why the group is refused; undefined for a good one. 4.9.7 checks groups in the client only, although they become folders. */
export function groupProblem(group: string): string | undefined {
  if (blank.test(group)) return 'The specified group is blank.';
  if (!legal.test(group)) return 'The specified group contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$';
  if (group.length > GROUP_LENGTH_MAX) return `The specified group is longer than ${GROUP_LENGTH_MAX} characters.`;
  return undefined;
}

export function isValidGroup(group: string): boolean {
  return groupProblem(group) === undefined;
}

/** 4.9: TopicValidator#isSystemTopic: may neither be created nor deleted. */
export function isSystemTopic(topic: string): boolean {
  return systemTopics.has(topic) || topic.startsWith(SYSTEM_TOPIC_PREFIX);
}

export function isSendForbidden(topic: string): boolean {
  return sendForbiddenTopics.has(topic);
}

/** Topics of the system in which messages wait until they are due. */
export function isDelayTopic(topic: string): boolean {
  return topic === SystemTopic.SCHEDULE || topic === SystemTopic.TIMER;
}

export function isSystemGroup(group: string): boolean {
  return group.startsWith(SYSTEM_GROUP_PREFIX);
}

export function retryTopicOf(group: string): string {
  return RETRY_PREFIX + group;
}

export function deadLetterTopicOf(group: string): string {
  return DLQ_PREFIX + group;
}

export function replyTopicOf(cluster: string): string {
  return `${cluster}_${REPLY_TOPIC_SUFFIX}`;
}

export function isRetryTopic(topic: string): boolean {
  return topic.startsWith(RETRY_PREFIX);
}

export function isDeadLetterTopic(topic: string): boolean {
  return topic.startsWith(DLQ_PREFIX);
}

/** The group behind a retry or dead-letter topic, or undefined for any other topic. */
export function groupOf(topic: string): string | undefined {
  if (isRetryTopic(topic)) return topic.slice(RETRY_PREFIX.length);
  if (isDeadLetterTopic(topic)) return topic.slice(DLQ_PREFIX.length);
  return undefined;
}
