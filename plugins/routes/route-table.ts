import { inject, injectable } from '../../kernel/container.js';
import { KernelError } from '../../kernel/base/errors.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import type { BrokerData, ClusterInfo, QueueData, TopicRouteData } from '../../protocol/bodies/route.js';
import type { DataVersion, TopicConfig } from '../../protocol/bodies/topic-config.js';
import { Perm } from '../../protocol/codes.js';
import type { Connection } from '../remoting/contract.js';

/** 4.9: MixAll.MASTER_ID. */
export const MASTER_ID = 0;
/** Brokers over all clusters; each holds a connection. */
export const BROKERS_MAX = 10_000;
/** Topics over all brokers. */
export const TOPICS_MAX = 1_000_000;

/** What a broker says when it registers. */
export interface Registration {
  readonly clusterName: string;
  readonly brokerName: string;
  readonly brokerAddr: string;
  readonly brokerId: number;
  readonly haServerAddr: string;
  readonly topics: ReadonlyMap<string, TopicConfig>;
  readonly dataVersion: DataVersion;
  /** Undefined leaves what was there, as 4.9 does for brokers before 3.0.11. */
  readonly filterServers: readonly string[] | undefined;
}

/** What it is told back; both are there for a slave whose master is registered. */
export interface RegistrationAnswer {
  readonly masterAddr?: string;
  readonly haServerAddr?: string;
}

interface Broker {
  readonly cluster: string;
  readonly brokerName: string;
  readonly brokerAddrs: Map<number, string>;
}

/** 4.9: BrokerLiveInfo. */
interface Live {
  lastSeenMonoMs: number;
  readonly dataVersion: DataVersion;
  readonly connection: Connection;
  readonly haServerAddr: string;
}

export function sameVersion(a: DataVersion, b: DataVersion): boolean {
  return a.timestamp === b.timestamp && a.counter === b.counter;
}

/** 4.9: RouteInfoManager. Which broker has which topics, and who is alive. */
@injectable()
export class RouteTable {
  readonly #options: Options;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Queue data by broker name, by topic. */
  readonly #topics = new Map<string, Map<string, QueueData>>();
  /** By broker name. */
  readonly #brokers = new Map<string, Broker>();
  /** Broker names by cluster. */
  readonly #clusters = new Map<string, Set<string>>();
  /** By broker address. */
  readonly #live = new Map<string, Live>();
  /** Filter servers by broker address. */
  readonly #filterServers = new Map<string, readonly string[]>();

  constructor(@inject(Options) options: Options, @inject(Clock) clock: Clock, @inject(Logger) logger: Logger) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** 4.9: registerBroker. Topics come from brokerId 0 alone, and only when their version or the registration is new. */
  register(registration: Registration, connection: Connection): RegistrationAnswer {
    const { clusterName, brokerName, brokerAddr, brokerId, dataVersion, haServerAddr } = registration;
    const before = this.#live.get(brokerAddr);
    this.#checkRoom(registration, before);
    this.#leaveOtherName(brokerName, brokerAddr);
    let names = this.#clusters.get(clusterName);
    if (names === undefined) this.#clusters.set(clusterName, (names = new Set()));
    names.add(brokerName);
    let broker = this.#brokers.get(brokerName);
    if (broker === undefined) {
      broker = { cluster: clusterName, brokerName, brokerAddrs: new Map() };
      this.#brokers.set(brokerName, broker);
    }
    // A slave that became master: one address stands under one id only.
    for (const [id, addr] of broker.brokerAddrs) {
      if (addr === brokerAddr && id !== brokerId) broker.brokerAddrs.delete(id);
    }
    const oldAddr = broker.brokerAddrs.get(brokerId);
    broker.brokerAddrs.set(brokerId, brokerAddr);
    const changed = before === undefined || !sameVersion(before.dataVersion, dataVersion);
    if (brokerId === MASTER_ID && (changed || oldAddr === undefined)) {
      for (const topic of registration.topics.values()) this.#setQueues(brokerName, topic);
    }
    this.#live.set(brokerAddr, { lastSeenMonoMs: this.#clock.monoMs(), dataVersion, connection, haServerAddr });
    if (before === undefined || oldAddr !== brokerAddr) {
      const about = { cluster: clusterName, broker: brokerName, id: brokerId, address: brokerAddr, before: oldAddr };
      this.#logger.info({ ...about, topics: registration.topics.size }, 'broker registered');
    }
    this.#setFilterServers(brokerAddr, registration.filterServers);
    return brokerId === MASTER_ID ? {} : this.#masterOf(broker);
  }

  /** 4.9: unregisterBroker; the address must be the one that is registered under the id. */
  unregister(clusterName: string, brokerName: string, brokerAddr: string, brokerId: number): void {
    this.#live.delete(brokerAddr);
    this.#filterServers.delete(brokerAddr);
    const broker = this.#brokers.get(brokerName);
    if (broker?.brokerAddrs.get(brokerId) !== brokerAddr) {
      const about = { cluster: clusterName, broker: brokerName, id: brokerId, address: brokerAddr };
      this.#logger.warn(about, 'broker to unregister is not registered so');
      return;
    }
    this.#removeAddress(broker, brokerId, 'it unregistered');
  }

  /** The data version of an address's last registration. */
  versionOf(brokerAddr: string): DataVersion | undefined {
    return this.#live.get(brokerAddr)?.dataVersion;
  }

  /** A broker that asked and learned that nothing changed is alive (4.9: updateBrokerInfoUpdateTimestamp). */
  touch(brokerAddr: string): void {
    const live = this.#live.get(brokerAddr);
    if (live !== undefined) live.lastSeenMonoMs = this.#clock.monoMs();
  }

  /** 4.9: onChannelDestroy, for every broker that registered over the connection. */
  connectionClosed(connection: Connection): void {
    for (const [addr, live] of this.#live) {
      if (live.connection === connection) this.#removeLive(addr, 'its connection closed');
    }
  }

  /** 4.9: scanNotActiveBroker, by the monotonic clock. */
  expire(): void {
    const oldest = this.#clock.monoMs() - this.#options.brokerExpiryMs;
    for (const [addr, live] of this.#live) {
      if (live.lastSeenMonoMs >= oldest) continue;
      const why = `no registration for ${this.#options.brokerExpiryMs} ms`;
      this.#removeLive(addr, why);
      live.connection.close(`broker ${addr}: ${why}`);
    }
  }

  /** 4.9: pickupTopicRouteData; undefined when no broker that has the topic is registered. */
  route(topic: string): TopicRouteData | undefined {
    const queues = this.#topics.get(topic);
    if (queues === undefined) return undefined;
    const brokerDatas: BrokerData[] = [];
    const filterServerTable = new Map<string, readonly string[]>();
    for (const brokerName of queues.keys()) {
      const broker = this.#brokers.get(brokerName);
      if (broker === undefined) continue;
      brokerDatas.push(sorted(broker));
      for (const addr of broker.brokerAddrs.values()) {
        const servers = this.#filterServers.get(addr);
        if (servers !== undefined) filterServerTable.set(addr, servers);
      }
    }
    if (brokerDatas.length === 0) return undefined;
    return { queueDatas: [...queues.values()], brokerDatas, filterServerTable };
  }

  clusterInfo(): ClusterInfo {
    return {
      brokerAddrTable: new Map([...this.#brokers].map(([name, broker]) => [name, sorted(broker)])),
      clusterAddrTable: new Map([...this.#clusters].map(([cluster, names]) => [cluster, [...names]])),
    };
  }

  topicNames(): string[] {
    return [...this.#topics.keys()];
  }

  /** 4.9: getTopicsByCluster; empty for an unknown cluster. */
  topicsOfCluster(cluster: string): string[] {
    const names = this.#clusters.get(cluster);
    if (names === undefined) return [];
    const topics: string[] = [];
    for (const [topic, queues] of this.#topics) {
      for (const name of names) {
        if (!queues.has(name)) continue;
        topics.push(topic);
        break;
      }
    }
    return topics;
  }

  /** 4.9: topicQueueTableIter: the first broker's queue data decides. */
  topicsWhere(wanted: (topicSysFlag: number) => boolean): string[] {
    const topics: string[] = [];
    for (const [topic, queues] of this.#topics) {
      const [first] = queues.values();
      if (first !== undefined && wanted(first.topicSysFlag)) topics.push(topic);
    }
    return topics;
  }

  /** 4.9: getSystemTopicList: clusters and brokers are topics too. */
  systemTopics(): { topics: string[]; brokerAddr: string | undefined } {
    const topics = new Set<string>();
    for (const [cluster, names] of this.#clusters) {
      topics.add(cluster);
      for (const name of names) topics.add(name);
    }
    for (const broker of this.#brokers.values()) {
      const [brokerAddr] = sorted(broker).brokerAddrs.values();
      if (brokerAddr !== undefined) return { topics: [...topics], brokerAddr };
    }
    return { topics: [...topics], brokerAddr: undefined };
  }

  /** Forgets a topic, of one cluster's brokers when one is named. Brokers that still have it register it again on a change. */
  deleteTopic(topic: string, cluster: string | undefined): void {
    if (cluster === undefined || cluster === '') {
      this.#topics.delete(topic);
      return;
    }
    const queues = this.#topics.get(topic);
    if (queues === undefined) return;
    for (const name of this.#clusters.get(cluster) ?? []) queues.delete(name);
    if (queues.size === 0) this.#topics.delete(topic);
  }

  /** 4.9: operateWritePermOfBroker. Returns the number of topics; the broker's next changed registration undoes it. */
  setWritable(brokerName: string, writable: boolean): number {
    let count = 0;
    for (const queues of this.#topics.values()) {
      const data = queues.get(brokerName);
      if (data === undefined) continue;
      count++;
      queues.set(brokerName, { ...data, perm: writable ? Perm.READ | Perm.WRITE : data.perm & ~Perm.WRITE });
    }
    return count;
  }

  #checkRoom(registration: Registration, before: Live | undefined): void {
    if (before === undefined && this.#live.size >= BROKERS_MAX) {
      throw new KernelError(
        'TOO_MANY_BROKERS',
        `broker ${registration.brokerAddr} is not registered: there are ${BROKERS_MAX}`,
      );
    }
    let count = this.#topics.size;
    if (registration.brokerId !== MASTER_ID || count + registration.topics.size <= TOPICS_MAX) return;
    for (const topic of registration.topics.keys()) if (!this.#topics.has(topic)) count++;
    if (count > TOPICS_MAX) {
      throw new KernelError(
        'TOO_MANY_TOPICS',
        `broker ${registration.brokerAddr} is not registered: with its topics there are more than ${TOPICS_MAX}`,
      );
    }
  }

  /** An address that comes back under another broker name leaves the old one; 4.9 would route to it under both. */
  #leaveOtherName(brokerName: string, brokerAddr: string): void {
    if (!this.#live.has(brokerAddr)) return;
    for (const broker of this.#brokers.values()) {
      if (broker.brokerName === brokerName) continue;
      for (const [id, addr] of broker.brokerAddrs) {
        if (addr === brokerAddr) this.#removeAddress(broker, id, `its address registered as ${brokerName}`);
      }
    }
  }

  #setQueues(brokerName: string, topic: TopicConfig): void {
    const { topicName, readQueueNums, writeQueueNums, perm, topicSysFlag } = topic;
    let queues = this.#topics.get(topicName);
    if (queues === undefined) this.#topics.set(topicName, (queues = new Map()));
    queues.set(brokerName, { brokerName, readQueueNums, writeQueueNums, perm, topicSysFlag });
  }

  #setFilterServers(brokerAddr: string, servers: readonly string[] | undefined): void {
    if (servers === undefined) return;
    if (servers.length === 0) this.#filterServers.delete(brokerAddr);
    else this.#filterServers.set(brokerAddr, servers);
  }

  #masterOf(broker: Broker): RegistrationAnswer {
    const masterAddr = broker.brokerAddrs.get(MASTER_ID);
    const live = masterAddr === undefined ? undefined : this.#live.get(masterAddr);
    if (masterAddr === undefined || live === undefined) return {};
    return { masterAddr, haServerAddr: live.haServerAddr };
  }

  #removeLive(brokerAddr: string, why: string): void {
    this.#live.delete(brokerAddr);
    this.#filterServers.delete(brokerAddr);
    for (const broker of this.#brokers.values()) {
      for (const [id, addr] of broker.brokerAddrs) {
        if (addr === brokerAddr) this.#removeAddress(broker, id, why);
      }
    }
  }

  /** With its last address a broker name goes, and with it its queues of all topics. */
  #removeAddress(broker: Broker, brokerId: number, why: string): void {
    const { brokerName, cluster } = broker;
    const address = broker.brokerAddrs.get(brokerId);
    broker.brokerAddrs.delete(brokerId);
    this.#logger.warn({ cluster, broker: brokerName, id: brokerId, address }, `broker removed: ${why}`);
    if (broker.brokerAddrs.size > 0) return;
    this.#brokers.delete(brokerName);
    for (const [name, names] of this.#clusters) {
      if (names.delete(brokerName) && names.size === 0) this.#clusters.delete(name);
    }
    for (const [topic, queues] of this.#topics) {
      if (queues.delete(brokerName) && queues.size === 0) this.#topics.delete(topic);
    }
  }
}

/** Ids in ascending order, as Java's hash map of small longs has them. */
function sorted(broker: Broker): BrokerData {
  const brokerAddrs = new Map([...broker.brokerAddrs].sort(([a], [b]) => a - b));
  return { cluster: broker.cluster, brokerName: broker.brokerName, brokerAddrs };
}
