/** Bodies of GET_ROUTEINFO_BY_TOPIC (105) and GET_BROKER_CLUSTER_INFO (106). 4.9: TopicRouteData, ClusterInfo. */
import type { JsonValue } from './json.js';
import { writeJson, type JsonStyle, type WritableBean } from './json-write.js';
import { asObject, bodyObject, list, optionalText, table, text, textKey, textValue, whole, wholeKey } from './shape.js';

export interface QueueData {
  readonly brokerName: string;
  readonly readQueueNums: number;
  readonly writeQueueNums: number;
  /** Bits of Perm. */
  readonly perm: number;
  readonly topicSysFlag: number;
}

export interface BrokerData {
  readonly cluster: string;
  readonly brokerName: string;
  /** `host:port` by broker id; 0 is the master. */
  readonly brokerAddrs: ReadonlyMap<number, string>;
}

export interface TopicRouteData {
  readonly orderTopicConf?: string | undefined;
  readonly queueDatas: readonly QueueData[];
  readonly brokerDatas: readonly BrokerData[];
  /** Filter servers by broker address. */
  readonly filterServerTable: ReadonlyMap<string, readonly string[]>;
}

export interface ClusterInfo {
  readonly brokerAddrTable: ReadonlyMap<string, BrokerData>;
  /** Broker names by cluster. */
  readonly clusterAddrTable: ReadonlyMap<string, readonly string[]>;
}

function queueBean(data: QueueData): WritableBean {
  const { brokerName, readQueueNums, writeQueueNums, perm, topicSysFlag } = data;
  return { brokerName, readQueueNums, writeQueueNums, perm, topicSysFlag };
}

function readQueue(value: JsonValue): QueueData {
  const object = asObject(value, 'queueDatas');
  return {
    brokerName: text(object, 'brokerName'),
    readQueueNums: whole(object, 'readQueueNums'),
    writeQueueNums: whole(object, 'writeQueueNums'),
    perm: whole(object, 'perm'),
    topicSysFlag: whole(object, 'topicSysFlag', 0),
  };
}

function brokerBean({ cluster, brokerName, brokerAddrs }: BrokerData): WritableBean {
  return { cluster, brokerName, brokerAddrs };
}

function readBroker(value: JsonValue): BrokerData {
  const object = asObject(value, 'broker data');
  return {
    cluster: text(object, 'cluster', ''),
    brokerName: text(object, 'brokerName'),
    brokerAddrs: table(object, 'brokerAddrs', wholeKey, textValue),
  };
}

/** Peers of 4.9.4 and later, and those that ask for it, get `standard`; older ones cannot read quoted number keys. */
export function encodeTopicRouteData(route: TopicRouteData, style: JsonStyle): Buffer {
  return writeJson(
    {
      brokerDatas: route.brokerDatas.map(brokerBean),
      filterServerTable: route.filterServerTable,
      orderTopicConf: route.orderTopicConf,
      queueDatas: route.queueDatas.map(queueBean),
    },
    style,
  );
}

export function decodeTopicRouteData(body: string | Uint8Array): TopicRouteData {
  const object = bodyObject(body, 'TopicRouteData');
  return {
    orderTopicConf: optionalText(object, 'orderTopicConf'),
    queueDatas: list(object, 'queueDatas', readQueue),
    brokerDatas: list(object, 'brokerDatas', readBroker),
    filterServerTable: table(object, 'filterServerTable', textKey, textList),
  };
}

/** Always in fastjson's own form. */
export function encodeClusterInfo(info: ClusterInfo): Buffer {
  return writeJson({
    brokerAddrTable: new Map([...info.brokerAddrTable].map(([name, data]) => [name, brokerBean(data)])),
    clusterAddrTable: info.clusterAddrTable,
  });
}

export function decodeClusterInfo(body: string | Uint8Array): ClusterInfo {
  const object = bodyObject(body, 'ClusterInfo');
  return {
    brokerAddrTable: table(object, 'brokerAddrTable', textKey, readBroker),
    clusterAddrTable: table(object, 'clusterAddrTable', textKey, textList),
  };
}

function textList(value: JsonValue, what: string): string[] {
  return list({ [what]: value }, what, textValue);
}
