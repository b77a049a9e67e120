/** Decodes a body and encodes what came out, by the names of bodies.json. */
import * as acl from '../../protocol/bodies/acl-config.js';
import * as brokerStats from '../../protocol/bodies/broker-stats.js';
import * as checkClient from '../../protocol/bodies/check-client.js';
import * as consumeQueue from '../../protocol/bodies/consume-queue.js';
import * as consumeStats from '../../protocol/bodies/consume-stats.js';
import * as timeSpan from '../../protocol/bodies/consume-time-span.js';
import * as connection from '../../protocol/bodies/consumer-connection.js';
import * as consumerList from '../../protocol/bodies/consumer-list.js';
import * as consumerOffset from '../../protocol/bodies/consumer-offset.js';
import * as running from '../../protocol/bodies/consumer-running-info.js';
import * as groupList from '../../protocol/bodies/group-list.js';
import * as heartbeat from '../../protocol/bodies/heartbeat.js';
import * as kvTable from '../../protocol/bodies/kv-table.js';
import * as lockBatch from '../../protocol/bodies/lock-batch.js';
import * as registerBroker from '../../protocol/bodies/register-broker.js';
import * as resetOffset from '../../protocol/bodies/reset-offset.js';
import * as route from '../../protocol/bodies/route.js';
import * as subscriptionGroup from '../../protocol/bodies/subscription-group.js';
import * as topicConfig from '../../protocol/bodies/topic-config.js';
import * as topicList from '../../protocol/bodies/topic-list.js';
import * as topicStats from '../../protocol/bodies/topic-stats.js';

type BodyAgain = (body: Buffer) => Buffer;

function again<T>(decode: (body: Buffer) => T, encode: (value: T) => Buffer): BodyAgain {
  return (body) => encode(decode(body));
}

const routeAs = (style: 'fastjson' | 'standard'): BodyAgain =>
  again(route.decodeTopicRouteData, (data) => route.encodeTopicRouteData(data, style));
const consumeQueueAgain = again(
  consumeQueue.decodeQueryConsumeQueueResponseBody,
  consumeQueue.encodeQueryConsumeQueueResponseBody,
);
const runningAgain = again(running.decodeConsumerRunningInfo, running.encodeConsumerRunningInfo);
const topicListAgain = again(topicList.decodeTopicList, topicList.encodeTopicList);

export const bodyCodecs: Readonly<Record<string, BodyAgain>> = {
  AclConfig: again(acl.decodeAclConfig, acl.encodeAclConfig),
  BrokerStatsData: again(brokerStats.decodeBrokerStatsData, brokerStats.encodeBrokerStatsData),
  CheckClientRequestBody: again(checkClient.decodeCheckClientRequestBody, checkClient.encodeCheckClientRequestBody),
  ClusterInfo: again(route.decodeClusterInfo, route.encodeClusterInfo),
  ConsumeMessageDirectlyResult: again(
    running.decodeConsumeMessageDirectlyResult,
    running.encodeConsumeMessageDirectlyResult,
  ),
  ConsumeStats: again(consumeStats.decodeConsumeStats, consumeStats.encodeConsumeStats),
  ConsumeStatsList: again(consumeStats.decodeConsumeStatsList, consumeStats.encodeConsumeStatsList),
  ConsumerConnection: again(connection.decodeConsumerConnection, connection.encodeConsumerConnection),
  ConsumerList: again(consumerList.decodeConsumerList, consumerList.encodeConsumerList),
  ConsumerOffsetSerializeWrapper: again(
    consumerOffset.decodeConsumerOffsetTable,
    consumerOffset.encodeConsumerOffsetTable,
  ),
  ConsumerRunningInfo: runningAgain,
  'ConsumerRunningInfo jstack': runningAgain,
  DataVersion: again(topicConfig.decodeDataVersion, topicConfig.encodeDataVersion),
  DelayOffsetSerializeWrapper: again(consumerOffset.decodeDelayOffsetTable, consumerOffset.encodeDelayOffsetTable),
  GetConsumerStatusBody: again(resetOffset.decodeGetConsumerStatusBody, resetOffset.encodeGetConsumerStatusBody),
  GroupList: again(groupList.decodeGroupList, groupList.encodeGroupList),
  HeartbeatData: again(heartbeat.decodeHeartbeat, heartbeat.encodeHeartbeat),
  KVTable: again(kvTable.decodeKVTable, kvTable.encodeKVTable),
  LockBatchRequestBody: again(lockBatch.decodeLockBatchRequestBody, lockBatch.encodeLockBatchRequestBody),
  LockBatchResponseBody: again(lockBatch.decodeLockBatchResponseBody, lockBatch.encodeLockBatchResponseBody),
  ProducerConnection: again(connection.decodeProducerConnection, connection.encodeProducerConnection),
  ProducerTableInfo: again(connection.decodeProducerTableInfo, connection.encodeProducerTableInfo),
  QueryConsumeQueueResponseBody: consumeQueueAgain,
  'QueryConsumeQueueResponseBody filter': consumeQueueAgain,
  QueryConsumeTimeSpanBody: again(timeSpan.decodeConsumeTimeSpans, timeSpan.encodeConsumeTimeSpans),
  QueryCorrectionOffsetBody: again(resetOffset.decodeCorrectionOffsets, resetOffset.encodeCorrectionOffsets),
  RegisterBrokerBody: again(
    (body) => registerBroker.decodeRegisterBrokerBody(body, false),
    (value) => registerBroker.encodeRegisterBrokerBody(value, false),
  ),
  ResetOffsetBody: again(resetOffset.decodeResetOffsetBody, resetOffset.encodeResetOffsetBody),
  ResetOffsetBodyForC: again(resetOffset.decodeResetOffsetBody, resetOffset.encodeResetOffsetBodyForC),
  SubscriptionGroupConfig: again(
    subscriptionGroup.decodeSubscriptionGroupConfig,
    subscriptionGroup.encodeSubscriptionGroupConfig,
  ),
  SubscriptionGroupWrapper: again(
    subscriptionGroup.decodeSubscriptionGroupWrapper,
    subscriptionGroup.encodeSubscriptionGroupWrapper,
  ),
  TopicConfigSerializeWrapper: again(
    topicConfig.decodeTopicConfigSerializeWrapper,
    topicConfig.encodeTopicConfigSerializeWrapper,
  ),
  TopicList: topicListAgain,
  'TopicList brokerAddr': topicListAgain,
  TopicRouteData: routeAs('fastjson'),
  'TopicRouteData standard': routeAs('standard'),
  'TopicRouteData order': routeAs('fastjson'),
  'TopicRouteData order standard': routeAs('standard'),
  TopicStatsTable: again(topicStats.decodeTopicStatsTable, topicStats.encodeTopicStatsTable),
};
