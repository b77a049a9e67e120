import { readJson } from '../../protocol/bodies/json.js';
import { asObject } from '../../protocol/bodies/shape.js';
import {
  readTopicConfigWrapper,
  type DataVersion,
  type TopicConfig,
  type TopicConfigSerializeWrapper,
} from '../../protocol/bodies/topic-config.js';

/** An own file may be larger than a frame; only a broken one is larger than this. */
const ownFileLimits = { bytesMax: 512 * 1024 * 1024, membersMax: 50_000_000 };

/**
 * `config/topics.json` as 4.9 writes it (fastjson's pretty form: tabs, no blank after a colon, members in alphabetical order).
 * Names are quoted by JSON.stringify, which escapes what fastjson escapes.
 */
export function encodeTopicsFile(topics: Iterable<TopicConfig>, version: DataVersion): string {
  const entries: string[] = [];
  for (const topic of topics) entries.push(entry(topic));
  const table = entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n\t}`;
  return `{\n\t"dataVersion":{\n\t\t"counter":${version.counter},\n\t\t"timestamp":${version.timestamp}\n\t},\n\t"topicConfigTable":${table}\n}`;
}

/** Entries never change in place, so that a large table is written again at the price of joining strings. */
const written = new WeakMap<TopicConfig, string>();

function entry(topic: TopicConfig): string {
  let text = written.get(topic);
  if (text === undefined) {
    text = `\t\t${JSON.stringify(topic.topicName)}:{\n${members(topic)}\n\t\t}`;
    written.set(topic, text);
  }
  return text;
}

function members(topic: TopicConfig): string {
  return [
    `\t\t\t"order":${topic.order}`,
    `\t\t\t"perm":${topic.perm}`,
    `\t\t\t"readQueueNums":${topic.readQueueNums}`,
    `\t\t\t"topicFilterType":"${topic.topicFilterType}"`,
    `\t\t\t"topicName":${JSON.stringify(topic.topicName)}`,
    `\t\t\t"topicSysFlag":${topic.topicSysFlag}`,
    `\t\t\t"writeQueueNums":${topic.writeQueueNums}`,
  ].join(',\n');
}

/** Throws when the content is no topic table. */
export function decodeTopicsFile(content: Buffer): TopicConfigSerializeWrapper {
  return readTopicConfigWrapper(asObject(readJson(content, ownFileLimits), 'topics.json'));
}
