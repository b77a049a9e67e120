import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import {
  encodeConsumerConnection,
  encodeProducerConnection,
  encodeProducerTableInfo,
  type ClientConnection,
  type ProducerInfo,
} from '../../protocol/bodies/consumer-connection.js';
import {
  decodeSubscriptionGroupConfig,
  encodeSubscriptionGroupWrapper,
} from '../../protocol/bodies/subscription-group.js';
import { FieldError } from '../../protocol/fields.js';
import { decodeDeleteSubscriptiongroup } from '../../protocol/headers/delete-subscriptiongroup.js';
import { decodeGetConsumerConnectionList } from '../../protocol/headers/get-consumer-connection-list.js';
import { decodeGetProducerConnectionList } from '../../protocol/headers/get-producer-connection-list.js';
import { groupProblem } from '../../protocol/message/names.js';
import { Offsets } from '../offsets/contract.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { Consumers, Producers, SubscriptionGroups, type ClientChannel } from './contract.js';

/** 4.9.7 takes any number; it becomes the queue count of a topic. */
const RETRY_QUEUES_MAX = 65_536;

const success: Reply = { code: ResponseCode.SUCCESS };
const onSlave: Reply = {
  code: ResponseCode.SYSTEM_ERROR,
  remark: "Can't modify topic or subscription group from slave broker, please execute it from master broker.",
};

function connectionsOf(channels: Iterable<ClientChannel>): ClientConnection[] {
  return [...channels].map(({ clientId, connection, language, version }) => {
    return { clientId, clientAddr: connection.remote, language, version };
  });
}

/** Administration of groups and a look at who is connected (4.9: AdminBrokerProcessor). */
@injectable()
export class GroupHandlers {
  readonly #options: Options;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groups: SubscriptionGroups;
  readonly #consumers: Consumers;
  readonly #producers: Producers;
  readonly #offsets: Offsets;

  constructor(
    @inject(Options) options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) logger: Logger,
    @inject(SubscriptionGroups) groups: SubscriptionGroups,
    @inject(Consumers) consumers: Consumers,
    @inject(Producers) producers: Producers,
    @inject(Offsets) offsets: Offsets,
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#groups = groups;
    this.#consumers = consumers;
    this.#producers = producers;
    this.#offsets = offsets;
  }

  register(router: RequestRouter): void {
    router.handle(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, (request, from) => this.#put(request, from));
    router.handle(RequestCode.DELETE_SUBSCRIPTIONGROUP, (request, from) => this.#delete(request, from));
    router.handle(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, () => this.#all());
    router.handle(RequestCode.GET_CONSUMER_CONNECTION_LIST, (request) => this.#consumerConnections(request));
    router.handle(RequestCode.GET_PRODUCER_CONNECTION_LIST, (request) => this.#producerConnections(request));
    router.handle(RequestCode.GET_ALL_PRODUCER_INFO, () => this.#allProducers());
  }

  async #put(request: Request, connection: Connection): Promise<Reply> {
    if (this.#options.brokerRole === 'SLAVE') return onSlave;
    const config = decodeSubscriptionGroupConfig(request.body);
    const problem = groupProblem(config.groupName);
    if (problem !== undefined) return { code: ResponseCode.SYSTEM_ERROR, remark: problem };
    if (config.retryQueueNums < 0 || config.retryQueueNums > RETRY_QUEUES_MAX) {
      throw new FieldError('retryQueueNums', `must be between 0 and ${RETRY_QUEUES_MAX}`);
    }
    this.#logger.info({ group: config.groupName, client: connection.remote }, 'change of a group asked for');
    await this.#groups.put(config);
    return success;
  }

  async #delete(request: Request, connection: Connection): Promise<Reply> {
    if (this.#options.brokerRole === 'SLAVE') return onSlave;
    const { groupName, removeOffset } = decodeDeleteSubscriptiongroup(request.ext);
    this.#logger.info({ group: groupName, removeOffset, client: connection.remote }, 'deletion of a group asked for');
    await this.#groups.delete(groupName);
    if (removeOffset) this.#offsets.deleteGroup(groupName);
    return success;
  }

  #all(): Reply {
    const body = encodeSubscriptionGroupWrapper({
      subscriptionGroupTable: this.#groups.all(),
      dataVersion: this.#groups.dataVersion,
    });
    return { code: ResponseCode.SUCCESS, body };
  }

  #consumerConnections(request: Request): Reply {
    const { consumerGroup } = decodeGetConsumerConnectionList(request.ext);
    const group = this.#consumers.group(consumerGroup);
    if (group === undefined) {
      return { code: ResponseCode.CONSUMER_NOT_ONLINE, remark: `the consumer group[${consumerGroup}] not online` };
    }
    const body = encodeConsumerConnection({
      connectionSet: connectionsOf(group.connections),
      subscriptionTable: group.subscriptions,
      ...group.habits,
    });
    return { code: ResponseCode.SUCCESS, body };
  }

  #producerConnections(request: Request): Reply {
    const { producerGroup } = decodeGetProducerConnectionList(request.ext);
    const channels = this.#producers.channels(producerGroup);
    if (channels === undefined) {
      return { code: ResponseCode.SYSTEM_ERROR, remark: `the producer group[${producerGroup}] not exist` };
    }
    return {
      code: ResponseCode.SUCCESS,
      body: encodeProducerConnection({ connectionSet: connectionsOf(channels.values()) }),
    };
  }

  #allProducers(): Reply {
    const wallMinusMono = this.#clock.wallMs() - this.#clock.monoMs();
    const data = new Map<string, ProducerInfo[]>();
    for (const [group, channels] of this.#producers.all()) {
      const infos = [...channels.values()].map(({ clientId, connection, language, version, lastSeenMonoMs }) => {
        // 4.9 prints Java's form of a socket address, with its slash.
        const remoteIP = `/${connection.remote}`;
        return {
          clientId,
          remoteIP,
          language,
          version,
          lastUpdateTimestamp: Math.round(wallMinusMono + lastSeenMonoMs),
        };
      });
      data.set(group, infos);
    }
    return { code: ResponseCode.SUCCESS, body: encodeProducerTableInfo({ data }) };
  }
}
