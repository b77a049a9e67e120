/** Decoder and encoder of every header by code, and by the Java class whose bytes they are held to. */
import type { ExtFields, Serialize } from '../../protocol/command.js';
import {
  decodeAddWritePermOfBroker,
  decodeAddWritePermOfBrokerResponse,
  encodeAddWritePermOfBroker,
  encodeAddWritePermOfBrokerResponse,
} from '../../protocol/headers/add-write-perm-of-broker.js';
import {
  decodeCheckTransactionState,
  encodeCheckTransactionState,
} from '../../protocol/headers/check-transaction-state.js';
import { decodeCloneGroupOffset, encodeCloneGroupOffset } from '../../protocol/headers/clone-group-offset.js';
import {
  decodeConsumeMessageDirectly,
  encodeConsumeMessageDirectly,
} from '../../protocol/headers/consume-message-directly.js';
import { decodeConsumerSendMsgBack, encodeConsumerSendMsgBack } from '../../protocol/headers/consumer-send-msg-back.js';
import { decodeDeleteAclConfig, encodeDeleteAclConfig } from '../../protocol/headers/delete-acl-config.js';
import { decodeDeleteKvConfig, encodeDeleteKvConfig } from '../../protocol/headers/delete-kv-config.js';
import {
  decodeDeleteSubscriptiongroup,
  encodeDeleteSubscriptiongroup,
} from '../../protocol/headers/delete-subscriptiongroup.js';
import { decodeDeleteTopicInBroker, encodeDeleteTopicInBroker } from '../../protocol/headers/delete-topic-in-broker.js';
import {
  decodeDeleteTopicInNamesrv,
  encodeDeleteTopicInNamesrv,
} from '../../protocol/headers/delete-topic-in-namesrv.js';
import { decodeEndTransaction, encodeEndTransaction } from '../../protocol/headers/end-transaction.js';
import {
  decodeGetBrokerClusterAclInfoResponse,
  encodeGetBrokerClusterAclInfoResponse,
} from '../../protocol/headers/get-broker-cluster-acl-info.js';
import {
  decodeGetBrokerConfigResponse,
  encodeGetBrokerConfigResponse,
} from '../../protocol/headers/get-broker-config.js';
import {
  decodeGetBrokerConsumeStats,
  encodeGetBrokerConsumeStats,
} from '../../protocol/headers/get-broker-consume-stats.js';
import { decodeGetConsumeStats, encodeGetConsumeStats } from '../../protocol/headers/get-consume-stats.js';
import {
  decodeGetConsumerConnectionList,
  encodeGetConsumerConnectionList,
} from '../../protocol/headers/get-consumer-connection-list.js';
import {
  decodeGetConsumerListByGroup,
  encodeGetConsumerListByGroup,
} from '../../protocol/headers/get-consumer-list-by-group.js';
import {
  decodeGetConsumerRunningInfo,
  encodeGetConsumerRunningInfo,
} from '../../protocol/headers/get-consumer-running-info.js';
import {
  decodeGetConsumerStatusFromClient,
  encodeGetConsumerStatusFromClient,
} from '../../protocol/headers/get-consumer-status-from-client.js';
import {
  decodeGetEarliestMsgStoretime,
  decodeGetEarliestMsgStoretimeResponse,
  encodeGetEarliestMsgStoretime,
  encodeGetEarliestMsgStoretimeResponse,
} from '../../protocol/headers/get-earliest-msg-storetime.js';
import {
  decodeGetKvConfig,
  decodeGetKvConfigResponse,
  encodeGetKvConfig,
  encodeGetKvConfigResponse,
} from '../../protocol/headers/get-kv-config.js';
import {
  decodeGetKvlistByNamespace,
  encodeGetKvlistByNamespace,
} from '../../protocol/headers/get-kvlist-by-namespace.js';
import {
  decodeGetMaxOffset,
  decodeGetMaxOffsetResponse,
  encodeGetMaxOffset,
  encodeGetMaxOffsetResponse,
} from '../../protocol/headers/get-max-offset.js';
import {
  decodeGetMinOffset,
  decodeGetMinOffsetResponse,
  encodeGetMinOffset,
  encodeGetMinOffsetResponse,
} from '../../protocol/headers/get-min-offset.js';
import {
  decodeGetProducerConnectionList,
  encodeGetProducerConnectionList,
} from '../../protocol/headers/get-producer-connection-list.js';
import { decodeGetRouteinfoByTopic, encodeGetRouteinfoByTopic } from '../../protocol/headers/get-routeinfo-by-topic.js';
import { decodeGetTopicStatsInfo, encodeGetTopicStatsInfo } from '../../protocol/headers/get-topic-stats-info.js';
import { decodeGetTopicsByCluster, encodeGetTopicsByCluster } from '../../protocol/headers/get-topics-by-cluster.js';
import {
  decodeInvokeBrokerToGetConsumerStatus,
  encodeInvokeBrokerToGetConsumerStatus,
} from '../../protocol/headers/invoke-broker-to-get-consumer-status.js';
import {
  decodeInvokeBrokerToResetOffset,
  encodeInvokeBrokerToResetOffset,
} from '../../protocol/headers/invoke-broker-to-reset-offset.js';
import {
  decodeNotifyConsumerIdsChanged,
  encodeNotifyConsumerIdsChanged,
} from '../../protocol/headers/notify-consumer-ids-changed.js';
import {
  decodePullMessage,
  decodePullMessageResponse,
  encodePullMessage,
  encodePullMessageResponse,
} from '../../protocol/headers/pull-message.js';
import {
  decodePushReplyMessageToClient,
  encodePushReplyMessageToClient,
} from '../../protocol/headers/push-reply-message-to-client.js';
import { decodePutKvConfig, encodePutKvConfig } from '../../protocol/headers/put-kv-config.js';
import { decodeQueryConsumeQueue, encodeQueryConsumeQueue } from '../../protocol/headers/query-consume-queue.js';
import {
  decodeQueryConsumeTimeSpan,
  encodeQueryConsumeTimeSpan,
} from '../../protocol/headers/query-consume-time-span.js';
import {
  decodeQueryConsumerOffset,
  decodeQueryConsumerOffsetResponse,
  encodeQueryConsumerOffset,
  encodeQueryConsumerOffsetResponse,
} from '../../protocol/headers/query-consumer-offset.js';
import {
  decodeQueryCorrectionOffset,
  encodeQueryCorrectionOffset,
} from '../../protocol/headers/query-correction-offset.js';
import {
  decodeQueryDataVersion,
  decodeQueryDataVersionResponse,
  encodeQueryDataVersion,
  encodeQueryDataVersionResponse,
} from '../../protocol/headers/query-data-version.js';
import {
  decodeQueryMessage,
  decodeQueryMessageResponse,
  encodeQueryMessage,
  encodeQueryMessageResponse,
} from '../../protocol/headers/query-message.js';
import {
  decodeQueryTopicConsumeByWho,
  encodeQueryTopicConsumeByWho,
} from '../../protocol/headers/query-topic-consume-by-who.js';
import {
  decodeRegisterBroker,
  decodeRegisterBrokerResponse,
  encodeRegisterBroker,
  encodeRegisterBrokerResponse,
} from '../../protocol/headers/register-broker.js';
import {
  decodeResetConsumerClientOffset,
  encodeResetConsumerClientOffset,
} from '../../protocol/headers/reset-consumer-client-offset.js';
import {
  decodeResumeCheckHalfMessage,
  encodeResumeCheckHalfMessage,
} from '../../protocol/headers/resume-check-half-message.js';
import {
  decodeSearchOffsetByTimestamp,
  decodeSearchOffsetByTimestampResponse,
  encodeSearchOffsetByTimestamp,
  encodeSearchOffsetByTimestampResponse,
} from '../../protocol/headers/search-offset-by-timestamp.js';
import {
  decodeSendBatchMessage,
  decodeSendBatchMessageResponse,
  encodeSendBatchMessage,
  encodeSendBatchMessageResponse,
} from '../../protocol/headers/send-batch-message.js';
import {
  decodeSendMessageV2,
  decodeSendMessageV2Response,
  encodeSendMessageV2,
  encodeSendMessageV2Response,
} from '../../protocol/headers/send-message-v2.js';
import {
  decodeSendMessage,
  decodeSendMessageResponse,
  encodeSendMessage,
  encodeSendMessageResponse,
} from '../../protocol/headers/send-message.js';
import {
  decodeSendReplyMessageV2,
  decodeSendReplyMessageV2Response,
  encodeSendReplyMessageV2,
  encodeSendReplyMessageV2Response,
} from '../../protocol/headers/send-reply-message-v2.js';
import {
  decodeSendReplyMessage,
  decodeSendReplyMessageResponse,
  encodeSendReplyMessage,
  encodeSendReplyMessageResponse,
} from '../../protocol/headers/send-reply-message.js';
import { decodeUnregisterBroker, encodeUnregisterBroker } from '../../protocol/headers/unregister-broker.js';
import { decodeUnregisterClient, encodeUnregisterClient } from '../../protocol/headers/unregister-client.js';
import {
  decodeUpdateAndCreateAclConfig,
  encodeUpdateAndCreateAclConfig,
} from '../../protocol/headers/update-and-create-acl-config.js';
import {
  decodeUpdateAndCreateTopic,
  encodeUpdateAndCreateTopic,
} from '../../protocol/headers/update-and-create-topic.js';
import {
  decodeUpdateConsumerOffset,
  encodeUpdateConsumerOffset,
} from '../../protocol/headers/update-consumer-offset.js';
import {
  decodeUpdateGlobalWhiteAddrsConfig,
  encodeUpdateGlobalWhiteAddrsConfig,
} from '../../protocol/headers/update-global-white-addrs-config.js';
import { decodeViewBrokerStatsData, encodeViewBrokerStatsData } from '../../protocol/headers/view-broker-stats-data.js';
import { decodeViewMessageById, encodeViewMessageById } from '../../protocol/headers/view-message-by-id.js';
import {
  decodeWipeWritePermOfBroker,
  decodeWipeWritePermOfBrokerResponse,
  encodeWipeWritePermOfBroker,
  encodeWipeWritePermOfBrokerResponse,
} from '../../protocol/headers/wipe-write-perm-of-broker.js';

/** Decodes header fields and encodes what came out, with `undefined` for a form that is left to the encoder. */
export type Again = (ext: ExtFields, serialize?: Serialize) => ExtFields;

function again<T>(decode: (ext: ExtFields) => T, encode: (values: T, serialize?: Serialize) => ExtFields): Again {
  return (ext, serialize) => encode(decode(ext), serialize);
}

export const requestHeaders: Readonly<Record<string, Again>> = {
  ADD_WRITE_PERM_OF_BROKER: again(decodeAddWritePermOfBroker, encodeAddWritePermOfBroker),
  CHECK_TRANSACTION_STATE: again(decodeCheckTransactionState, encodeCheckTransactionState),
  CLONE_GROUP_OFFSET: again(decodeCloneGroupOffset, encodeCloneGroupOffset),
  CONSUME_MESSAGE_DIRECTLY: again(decodeConsumeMessageDirectly, encodeConsumeMessageDirectly),
  CONSUMER_SEND_MSG_BACK: again(decodeConsumerSendMsgBack, encodeConsumerSendMsgBack),
  DELETE_ACL_CONFIG: again(decodeDeleteAclConfig, encodeDeleteAclConfig),
  DELETE_KV_CONFIG: again(decodeDeleteKvConfig, encodeDeleteKvConfig),
  DELETE_SUBSCRIPTIONGROUP: again(decodeDeleteSubscriptiongroup, encodeDeleteSubscriptiongroup),
  DELETE_TOPIC_IN_BROKER: again(decodeDeleteTopicInBroker, encodeDeleteTopicInBroker),
  DELETE_TOPIC_IN_NAMESRV: again(decodeDeleteTopicInNamesrv, encodeDeleteTopicInNamesrv),
  END_TRANSACTION: again(decodeEndTransaction, encodeEndTransaction),
  GET_BROKER_CONSUME_STATS: again(decodeGetBrokerConsumeStats, encodeGetBrokerConsumeStats),
  GET_CONSUME_STATS: again(decodeGetConsumeStats, encodeGetConsumeStats),
  GET_CONSUMER_CONNECTION_LIST: again(decodeGetConsumerConnectionList, encodeGetConsumerConnectionList),
  GET_CONSUMER_LIST_BY_GROUP: again(decodeGetConsumerListByGroup, encodeGetConsumerListByGroup),
  GET_CONSUMER_RUNNING_INFO: again(decodeGetConsumerRunningInfo, encodeGetConsumerRunningInfo),
  GET_CONSUMER_STATUS_FROM_CLIENT: again(decodeGetConsumerStatusFromClient, encodeGetConsumerStatusFromClient),
  GET_EARLIEST_MSG_STORETIME: again(decodeGetEarliestMsgStoretime, encodeGetEarliestMsgStoretime),
  GET_KV_CONFIG: again(decodeGetKvConfig, encodeGetKvConfig),
  GET_KVLIST_BY_NAMESPACE: again(decodeGetKvlistByNamespace, encodeGetKvlistByNamespace),
  GET_MAX_OFFSET: again(decodeGetMaxOffset, encodeGetMaxOffset),
  GET_MIN_OFFSET: again(decodeGetMinOffset, encodeGetMinOffset),
  GET_PRODUCER_CONNECTION_LIST: again(decodeGetProducerConnectionList, encodeGetProducerConnectionList),
  GET_ROUTEINFO_BY_TOPIC: again(decodeGetRouteinfoByTopic, encodeGetRouteinfoByTopic),
  GET_TOPIC_STATS_INFO: again(decodeGetTopicStatsInfo, encodeGetTopicStatsInfo),
  GET_TOPICS_BY_CLUSTER: again(decodeGetTopicsByCluster, encodeGetTopicsByCluster),
  INVOKE_BROKER_TO_GET_CONSUMER_STATUS: again(
    decodeInvokeBrokerToGetConsumerStatus,
    encodeInvokeBrokerToGetConsumerStatus,
  ),
  INVOKE_BROKER_TO_RESET_OFFSET: again(decodeInvokeBrokerToResetOffset, encodeInvokeBrokerToResetOffset),
  NOTIFY_CONSUMER_IDS_CHANGED: again(decodeNotifyConsumerIdsChanged, encodeNotifyConsumerIdsChanged),
  PULL_MESSAGE: again(decodePullMessage, encodePullMessage),
  PUSH_REPLY_MESSAGE_TO_CLIENT: again(decodePushReplyMessageToClient, encodePushReplyMessageToClient),
  PUT_KV_CONFIG: again(decodePutKvConfig, encodePutKvConfig),
  QUERY_CONSUME_QUEUE: again(decodeQueryConsumeQueue, encodeQueryConsumeQueue),
  QUERY_CONSUME_TIME_SPAN: again(decodeQueryConsumeTimeSpan, encodeQueryConsumeTimeSpan),
  QUERY_CONSUMER_OFFSET: again(decodeQueryConsumerOffset, encodeQueryConsumerOffset),
  QUERY_CORRECTION_OFFSET: again(decodeQueryCorrectionOffset, encodeQueryCorrectionOffset),
  QUERY_DATA_VERSION: again(decodeQueryDataVersion, encodeQueryDataVersion),
  QUERY_MESSAGE: again(decodeQueryMessage, encodeQueryMessage),
  QUERY_TOPIC_CONSUME_BY_WHO: again(decodeQueryTopicConsumeByWho, encodeQueryTopicConsumeByWho),
  REGISTER_BROKER: again(decodeRegisterBroker, encodeRegisterBroker),
  RESET_CONSUMER_CLIENT_OFFSET: again(decodeResetConsumerClientOffset, encodeResetConsumerClientOffset),
  RESUME_CHECK_HALF_MESSAGE: again(decodeResumeCheckHalfMessage, encodeResumeCheckHalfMessage),
  SEARCH_OFFSET_BY_TIMESTAMP: again(decodeSearchOffsetByTimestamp, encodeSearchOffsetByTimestamp),
  SEND_BATCH_MESSAGE: again(decodeSendBatchMessage, encodeSendBatchMessage),
  SEND_MESSAGE_V2: again(decodeSendMessageV2, encodeSendMessageV2),
  SEND_MESSAGE: again(decodeSendMessage, encodeSendMessage),
  SEND_REPLY_MESSAGE_V2: again(decodeSendReplyMessageV2, encodeSendReplyMessageV2),
  SEND_REPLY_MESSAGE: again(decodeSendReplyMessage, encodeSendReplyMessage),
  UNREGISTER_BROKER: again(decodeUnregisterBroker, encodeUnregisterBroker),
  UNREGISTER_CLIENT: again(decodeUnregisterClient, encodeUnregisterClient),
  UPDATE_AND_CREATE_ACL_CONFIG: again(decodeUpdateAndCreateAclConfig, encodeUpdateAndCreateAclConfig),
  UPDATE_AND_CREATE_TOPIC: again(decodeUpdateAndCreateTopic, encodeUpdateAndCreateTopic),
  UPDATE_CONSUMER_OFFSET: again(decodeUpdateConsumerOffset, encodeUpdateConsumerOffset),
  UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: again(decodeUpdateGlobalWhiteAddrsConfig, encodeUpdateGlobalWhiteAddrsConfig),
  VIEW_BROKER_STATS_DATA: again(decodeViewBrokerStatsData, encodeViewBrokerStatsData),
  VIEW_MESSAGE_BY_ID: again(decodeViewMessageById, encodeViewMessageById),
  WIPE_WRITE_PERM_OF_BROKER: again(decodeWipeWritePermOfBroker, encodeWipeWritePermOfBroker),
};

export const answerHeaders: Readonly<Record<string, Again>> = {
  ADD_WRITE_PERM_OF_BROKER: again(decodeAddWritePermOfBrokerResponse, encodeAddWritePermOfBrokerResponse),
  GET_BROKER_CLUSTER_ACL_INFO: again(decodeGetBrokerClusterAclInfoResponse, encodeGetBrokerClusterAclInfoResponse),
  GET_BROKER_CONFIG: again(decodeGetBrokerConfigResponse, encodeGetBrokerConfigResponse),
  GET_EARLIEST_MSG_STORETIME: again(decodeGetEarliestMsgStoretimeResponse, encodeGetEarliestMsgStoretimeResponse),
  GET_KV_CONFIG: again(decodeGetKvConfigResponse, encodeGetKvConfigResponse),
  GET_MAX_OFFSET: again(decodeGetMaxOffsetResponse, encodeGetMaxOffsetResponse),
  GET_MIN_OFFSET: again(decodeGetMinOffsetResponse, encodeGetMinOffsetResponse),
  PULL_MESSAGE: again(decodePullMessageResponse, encodePullMessageResponse),
  QUERY_CONSUMER_OFFSET: again(decodeQueryConsumerOffsetResponse, encodeQueryConsumerOffsetResponse),
  QUERY_DATA_VERSION: again(decodeQueryDataVersionResponse, encodeQueryDataVersionResponse),
  QUERY_MESSAGE: again(decodeQueryMessageResponse, encodeQueryMessageResponse),
  REGISTER_BROKER: again(decodeRegisterBrokerResponse, encodeRegisterBrokerResponse),
  SEARCH_OFFSET_BY_TIMESTAMP: again(decodeSearchOffsetByTimestampResponse, encodeSearchOffsetByTimestampResponse),
  SEND_BATCH_MESSAGE: again(decodeSendBatchMessageResponse, encodeSendBatchMessageResponse),
  SEND_MESSAGE_V2: again(decodeSendMessageV2Response, encodeSendMessageV2Response),
  SEND_MESSAGE: again(decodeSendMessageResponse, encodeSendMessageResponse),
  SEND_REPLY_MESSAGE_V2: again(decodeSendReplyMessageV2Response, encodeSendReplyMessageV2Response),
  SEND_REPLY_MESSAGE: again(decodeSendReplyMessageResponse, encodeSendReplyMessageResponse),
  WIPE_WRITE_PERM_OF_BROKER: again(decodeWipeWritePermOfBrokerResponse, encodeWipeWritePermOfBrokerResponse),
};

/** 4.9 header class, below `org.apache.rocketmq.common.protocol.header.`, and where its fields are read here. */
export const javaHeaders: Readonly<Record<string, readonly [code: string, kind: 'request' | 'answer']>> = {
  CheckTransactionStateRequestHeader: ['CHECK_TRANSACTION_STATE', 'request'],
  CloneGroupOffsetRequestHeader: ['CLONE_GROUP_OFFSET', 'request'],
  ConsumeMessageDirectlyResultRequestHeader: ['CONSUME_MESSAGE_DIRECTLY', 'request'],
  ConsumerSendMsgBackRequestHeader: ['CONSUMER_SEND_MSG_BACK', 'request'],
  CreateAccessConfigRequestHeader: ['UPDATE_AND_CREATE_ACL_CONFIG', 'request'],
  CreateTopicRequestHeader: ['UPDATE_AND_CREATE_TOPIC', 'request'],
  DeleteAccessConfigRequestHeader: ['DELETE_ACL_CONFIG', 'request'],
  DeleteSubscriptionGroupRequestHeader: ['DELETE_SUBSCRIPTIONGROUP', 'request'],
  DeleteTopicRequestHeader: ['DELETE_TOPIC_IN_BROKER', 'request'],
  EndTransactionRequestHeader: ['END_TRANSACTION', 'request'],
  GetBrokerAclConfigResponseHeader: ['GET_BROKER_CLUSTER_ACL_INFO', 'answer'],
  GetBrokerConfigResponseHeader: ['GET_BROKER_CONFIG', 'answer'],
  GetConsumeStatsInBrokerHeader: ['GET_BROKER_CONSUME_STATS', 'request'],
  GetConsumeStatsRequestHeader: ['GET_CONSUME_STATS', 'request'],
  GetConsumerConnectionListRequestHeader: ['GET_CONSUMER_CONNECTION_LIST', 'request'],
  GetConsumerListByGroupRequestHeader: ['GET_CONSUMER_LIST_BY_GROUP', 'request'],
  GetConsumerRunningInfoRequestHeader: ['GET_CONSUMER_RUNNING_INFO', 'request'],
  GetConsumerStatusRequestHeader: ['GET_CONSUMER_STATUS_FROM_CLIENT', 'request'],
  GetEarliestMsgStoretimeRequestHeader: ['GET_EARLIEST_MSG_STORETIME', 'request'],
  GetEarliestMsgStoretimeResponseHeader: ['GET_EARLIEST_MSG_STORETIME', 'answer'],
  GetMaxOffsetRequestHeader: ['GET_MAX_OFFSET', 'request'],
  GetMaxOffsetResponseHeader: ['GET_MAX_OFFSET', 'answer'],
  GetMinOffsetRequestHeader: ['GET_MIN_OFFSET', 'request'],
  GetMinOffsetResponseHeader: ['GET_MIN_OFFSET', 'answer'],
  GetProducerConnectionListRequestHeader: ['GET_PRODUCER_CONNECTION_LIST', 'request'],
  GetTopicStatsInfoRequestHeader: ['GET_TOPIC_STATS_INFO', 'request'],
  GetTopicsByClusterRequestHeader: ['GET_TOPICS_BY_CLUSTER', 'request'],
  NotifyConsumerIdsChangedRequestHeader: ['NOTIFY_CONSUMER_IDS_CHANGED', 'request'],
  PullMessageRequestHeader: ['PULL_MESSAGE', 'request'],
  PullMessageResponseHeader: ['PULL_MESSAGE', 'answer'],
  QueryConsumeQueueRequestHeader: ['QUERY_CONSUME_QUEUE', 'request'],
  QueryConsumeTimeSpanRequestHeader: ['QUERY_CONSUME_TIME_SPAN', 'request'],
  QueryConsumerOffsetRequestHeader: ['QUERY_CONSUMER_OFFSET', 'request'],
  QueryConsumerOffsetResponseHeader: ['QUERY_CONSUMER_OFFSET', 'answer'],
  QueryCorrectionOffsetHeader: ['QUERY_CORRECTION_OFFSET', 'request'],
  QueryMessageRequestHeader: ['QUERY_MESSAGE', 'request'],
  QueryMessageResponseHeader: ['QUERY_MESSAGE', 'answer'],
  QueryTopicConsumeByWhoRequestHeader: ['QUERY_TOPIC_CONSUME_BY_WHO', 'request'],
  ReplyMessageRequestHeader: ['PUSH_REPLY_MESSAGE_TO_CLIENT', 'request'],
  ResetOffsetRequestHeader: ['INVOKE_BROKER_TO_RESET_OFFSET', 'request'],
  ResumeCheckHalfMessageRequestHeader: ['RESUME_CHECK_HALF_MESSAGE', 'request'],
  SearchOffsetRequestHeader: ['SEARCH_OFFSET_BY_TIMESTAMP', 'request'],
  SearchOffsetResponseHeader: ['SEARCH_OFFSET_BY_TIMESTAMP', 'answer'],
  SendMessageRequestHeader: ['SEND_MESSAGE', 'request'],
  SendMessageRequestHeaderV2: ['SEND_MESSAGE_V2', 'request'],
  SendMessageResponseHeader: ['SEND_MESSAGE', 'answer'],
  UnregisterClientRequestHeader: ['UNREGISTER_CLIENT', 'request'],
  UpdateConsumerOffsetRequestHeader: ['UPDATE_CONSUMER_OFFSET', 'request'],
  UpdateGlobalWhiteAddrsConfigRequestHeader: ['UPDATE_GLOBAL_WHITE_ADDRS_CONFIG', 'request'],
  ViewBrokerStatsDataRequestHeader: ['VIEW_BROKER_STATS_DATA', 'request'],
  ViewMessageRequestHeader: ['VIEW_MESSAGE_BY_ID', 'request'],
  'namesrv.AddWritePermOfBrokerRequestHeader': ['ADD_WRITE_PERM_OF_BROKER', 'request'],
  'namesrv.AddWritePermOfBrokerResponseHeader': ['ADD_WRITE_PERM_OF_BROKER', 'answer'],
  'namesrv.DeleteKVConfigRequestHeader': ['DELETE_KV_CONFIG', 'request'],
  'namesrv.DeleteTopicFromNamesrvRequestHeader': ['DELETE_TOPIC_IN_NAMESRV', 'request'],
  'namesrv.GetKVConfigRequestHeader': ['GET_KV_CONFIG', 'request'],
  'namesrv.GetKVConfigResponseHeader': ['GET_KV_CONFIG', 'answer'],
  'namesrv.GetKVListByNamespaceRequestHeader': ['GET_KVLIST_BY_NAMESPACE', 'request'],
  'namesrv.GetRouteInfoRequestHeader': ['GET_ROUTEINFO_BY_TOPIC', 'request'],
  'namesrv.PutKVConfigRequestHeader': ['PUT_KV_CONFIG', 'request'],
  'namesrv.QueryDataVersionRequestHeader': ['QUERY_DATA_VERSION', 'request'],
  'namesrv.QueryDataVersionResponseHeader': ['QUERY_DATA_VERSION', 'answer'],
  'namesrv.RegisterBrokerRequestHeader': ['REGISTER_BROKER', 'request'],
  'namesrv.RegisterBrokerResponseHeader': ['REGISTER_BROKER', 'answer'],
  'namesrv.UnRegisterBrokerRequestHeader': ['UNREGISTER_BROKER', 'request'],
  'namesrv.WipeWritePermOfBrokerRequestHeader': ['WIPE_WRITE_PERM_OF_BROKER', 'request'],
  'namesrv.WipeWritePermOfBrokerResponseHeader': ['WIPE_WRITE_PERM_OF_BROKER', 'answer'],
};
