import { messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { decodeTopicRouteData, type TopicRouteData } from '../../protocol/bodies/route.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { encodeGetRouteinfoByTopic } from '../../protocol/headers/get-routeinfo-by-topic.js';
import { ClientError } from '../errors.js';
import { MASTER_ID } from './message-queue.js';
import type { NameServers } from './name-servers.js';
import { refused } from './transport.js';

export interface BrokerAddress {
  readonly brokerName: string;
  readonly brokerId: number;
  readonly address: string;
}

/** Topics whose route is kept up to date; more than one client ever uses. */
const TOPICS_MAX = 10_000;

/** Routes by topic as the name servers give them, and from them the addresses of the brokers. */
export class Routes {
  readonly #nameServers: NameServers;
  readonly #logger: Logger;
  readonly #timeoutMs: number;
  /** Undefined: asked for, and not there (yet). */
  readonly #routes = new Map<string, TopicRouteData | undefined>();
  readonly #asking = new Map<string, Promise<TopicRouteData | undefined>>();
  readonly #brokers = new Map<string, ReadonlyMap<number, string>>();
  readonly #listeners: ((topic: string) => void)[] = [];

  constructor(nameServers: NameServers, logger: Logger, timeoutMs = 3000) {
    this.#nameServers = nameServers;
    this.#logger = logger;
    this.#timeoutMs = timeoutMs;
  }

  /** Called after the route of a topic changed. */
  onChange(listener: (topic: string) => void): void {
    this.#listeners.push(listener);
  }

  /** The route as last seen, without asking. */
  cached(topic: string): TopicRouteData | undefined {
    return this.#routes.get(topic);
  }

  /** The route, asked for when it is not known. Undefined when the topic does not exist. */
  async find(topic: string): Promise<TopicRouteData | undefined> {
    return this.#routes.get(topic) ?? this.refresh(topic);
  }

  /** Asks the name servers. Undefined when the topic does not exist. Rejects with NAMESRV_UNREACHABLE or REFUSED. */
  refresh(topic: string): Promise<TopicRouteData | undefined> {
    const asking = this.#asking.get(topic);
    if (asking !== undefined) return asking;
    const asked = this.#ask(topic).finally(() => this.#asking.delete(topic));
    this.#asking.set(topic, asked);
    return asked;
  }

  /** Asks without keeping the route: for templates such as TBW102. */
  async peek(topic: string): Promise<TopicRouteData | undefined> {
    const call = {
      code: RequestCode.GET_ROUTEINFO_BY_TOPIC,
      ext: encodeGetRouteinfoByTopic({ topic, acceptStandardJsonOnly: true }),
    };
    const answer = await this.#nameServers.invoke(call, this.#timeoutMs);
    if (answer.code === ResponseCode.TOPIC_NOT_EXIST) return undefined;
    if (answer.code !== ResponseCode.SUCCESS) throw refused('the name server', call.code, answer);
    const route = decodeTopicRouteData(answer.body);
    this.#learnBrokers(route);
    return route;
  }

  /** Asks again for all routes in use (`missing`: only for those not found so far). Failures are logged, old routes kept. */
  async refreshAll(missing: boolean): Promise<void> {
    for (const [topic, route] of [...this.#routes]) {
      if (missing && route !== undefined) continue;
      try {
        await this.refresh(topic);
      } catch (error) {
        this.#logger.warn({ topic, problem: messageOf(error) }, 'route not refreshed');
      }
    }
  }

  /**
   * Address of a broker: the one with that id, else (unless `exactly`) the slave with the next id, or the first of its group
   * (4.9: MQClientInstance#findBrokerAddressInSubscribe).
   */
  brokerAddress(brokerName: string, brokerId = MASTER_ID, exactly = true): BrokerAddress | undefined {
    const group = this.#brokers.get(brokerName);
    if (group === undefined) return undefined;
    const wanted = group.get(brokerId);
    if (wanted !== undefined) return { brokerName, brokerId, address: wanted };
    if (exactly || group.size === 0) return undefined;
    const next = brokerId + 1;
    const other = brokerId !== MASTER_ID && group.has(next) ? next : Math.min(...group.keys());
    return { brokerName, brokerId: other, address: group.get(other)! };
  }

  /** As `brokerAddress`, but asks for the topic's route when the broker is unknown. Rejects with NO_BROKER. */
  async findBroker(topic: string, brokerName: string, brokerId = MASTER_ID, exactly = true): Promise<BrokerAddress> {
    const known = this.brokerAddress(brokerName, brokerId, exactly);
    if (known !== undefined) return known;
    await this.refresh(topic);
    const found = this.brokerAddress(brokerName, brokerId, exactly);
    if (found !== undefined) return found;
    const which = brokerId === MASTER_ID ? 'master' : `member ${brokerId}`;
    throw new ClientError('NO_BROKER', `the ${which} of broker ${brokerName} (topic ${topic}) is not registered`);
  }

  /** All brokers that any route in use names. */
  brokers(): BrokerAddress[] {
    return [...this.#brokers].flatMap(([brokerName, group]) =>
      [...group].map(([brokerId, address]) => ({ brokerName, brokerId, address })),
    );
  }

  /** A topic that is no longer used is no longer refreshed. */
  forget(topic: string): void {
    this.#routes.delete(topic);
  }

  async #ask(topic: string): Promise<TopicRouteData | undefined> {
    if (!this.#routes.has(topic) && this.#routes.size >= TOPICS_MAX)
      throw new ClientError('ILLEGAL_ARGUMENT', `this client already uses ${TOPICS_MAX} topics`);
    const route = await this.peek(topic);
    const before = this.#routes.get(topic);
    // A topic that the name server does not know for a moment (it restarts) keeps its last route, as in 4.9.
    if (route === undefined) {
      if (before === undefined) this.#routes.set(topic, undefined);
      return before;
    }
    this.#routes.set(topic, route);
    if (before === undefined || fingerprint(before) !== fingerprint(route)) {
      this.#logger.info({ topic, brokers: route.brokerDatas.map((broker) => broker.brokerName) }, 'route changed');
      for (const listener of this.#listeners) listener(topic);
    }
    return route;
  }

  #learnBrokers(route: TopicRouteData): void {
    for (const broker of route.brokerDatas) this.#brokers.set(broker.brokerName, broker.brokerAddrs);
  }
}

/** Equal for equal routes, whatever the order of their parts. */
function fingerprint(route: TopicRouteData): string {
  const queues = route.queueDatas.map(
    (queue) => `${queue.brokerName} ${queue.readQueueNums} ${queue.writeQueueNums} ${queue.perm} ${queue.topicSysFlag}`,
  );
  const brokers = route.brokerDatas.map(
    (broker) => `${broker.brokerName} ${[...broker.brokerAddrs].sort(([a], [b]) => a - b).join(' ')}`,
  );
  return [...queues.sort(), ...brokers.sort(), route.orderTopicConf ?? ''].join('\n');
}
