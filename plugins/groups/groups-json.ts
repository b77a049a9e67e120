import { readJson } from '../../protocol/bodies/json.js';
import { asObject, table, textKey } from '../../protocol/bodies/shape.js';
import {
  readSubscriptionGroup,
  type SubscriptionGroupConfig,
  type SubscriptionGroupWrapper,
} from '../../protocol/bodies/subscription-group.js';
import { readDataVersion, type DataVersion } from '../../protocol/bodies/topic-config.js';

/** An own file may be larger than a frame; only a broken one is larger than this. */
const ownFileLimits = { bytesMax: 512 * 1024 * 1024, membersMax: 50_000_000 };

/** `config/subscriptionGroup.json` as 4.9 writes it: fastjson's pretty form. */
export function encodeGroupsFile(groups: Iterable<SubscriptionGroupConfig>, version: DataVersion): string {
  const entries: string[] = [];
  for (const group of groups) entries.push(entry(group));
  const table = entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n\t}`;
  return `{\n\t"dataVersion":{\n\t\t"counter":${version.counter},\n\t\t"timestamp":${version.timestamp}\n\t},\n\t"subscriptionGroupTable":${table}\n}`;
}

/** Entries never change in place, so that a large table is written again at the price of joining strings. */
const written = new WeakMap<SubscriptionGroupConfig, string>();

function entry(group: SubscriptionGroupConfig): string {
  let text = written.get(group);
  if (text === undefined) {
    text = `\t\t${JSON.stringify(group.groupName)}:{\n${members(group)}\n\t\t}`;
    written.set(group, text);
  }
  return text;
}

function members(group: SubscriptionGroupConfig): string {
  return [
    `\t\t\t"brokerId":${group.brokerId}`,
    `\t\t\t"consumeBroadcastEnable":${group.consumeBroadcastEnable}`,
    `\t\t\t"consumeEnable":${group.consumeEnable}`,
    `\t\t\t"consumeFromMinEnable":${group.consumeFromMinEnable}`,
    `\t\t\t"groupName":${JSON.stringify(group.groupName)}`,
    `\t\t\t"notifyConsumerIdsChangedEnable":${group.notifyConsumerIdsChangedEnable}`,
    `\t\t\t"retryMaxTimes":${group.retryMaxTimes}`,
    `\t\t\t"retryQueueNums":${group.retryQueueNums}`,
    `\t\t\t"whichBrokerWhenConsumeSlowly":${group.whichBrokerWhenConsumeSlowly}`,
  ].join(',\n');
}

/** Throws when the content is no table of groups. */
export function decodeGroupsFile(content: Buffer): SubscriptionGroupWrapper {
  const object = asObject(readJson(content, ownFileLimits), 'subscriptionGroup.json');
  return {
    subscriptionGroupTable: table(object, 'subscriptionGroupTable', textKey, readSubscriptionGroup),
    dataVersion: readDataVersion(object['dataVersion']),
  };
}
