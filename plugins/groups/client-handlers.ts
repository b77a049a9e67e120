import { inject, injectable } from '../../kernel/container.js';
import { Perm, RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeCheckClientRequestBody } from '../../protocol/bodies/check-client.js';
import { decodeHeartbeat, type HeartbeatData } from '../../protocol/bodies/heartbeat.js';
import { FieldError } from '../../protocol/fields.js';
import { decodeGetConsumerListByGroup } from '../../protocol/headers/get-consumer-list-by-group.js';
import { decodeUnregisterClient } from '../../protocol/headers/unregister-client.js';
import { groupProblem, retryTopicOf } from '../../protocol/message/names.js';
import { FilterError, FilterRegistry } from '../filter/contract.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { Topics } from '../topics/contract.js';
import { SubscriptionGroups } from './contract.js';
import { ConsumerTable } from './consumer-table.js';
import type { Client } from './members.js';
import { ProducerTable } from './producer-table.js';
import { QueueLocks } from './queue-locks.js';

/** 4.9: TopicSysFlag#buildSysFlag(false, true). */
const FLAG_UNIT_SUB = 2;
/** What one connection may be in; the original's proxies stay far below. */
const GROUPS_PER_CONNECTION_MAX = 4096;
const TOPICS_PER_GROUP_MAX = 8192;
const CLIENT_ID_LENGTH_MAX = 512;
/** 4.9: Validators.CHARACTER_MAX_LENGTH of the client. Producer groups become no path, so their length is not bound to 120. */
const PRODUCER_GROUP_LENGTH_MAX = 255;

const success: Reply = { code: ResponseCode.SUCCESS };

/** What clients say about themselves (4.9: ClientManageProcessor, and code 38 of ConsumerManageProcessor). */
@injectable()
export class ClientHandlers {
  readonly #consumers: ConsumerTable;
  readonly #producers: ProducerTable;
  readonly #groups: SubscriptionGroups;
  readonly #topics: Topics;
  readonly #filters: FilterRegistry;
  readonly #locks: QueueLocks;

  constructor(
    @inject(ConsumerTable) consumers: ConsumerTable,
    @inject(ProducerTable) producers: ProducerTable,
    @inject(SubscriptionGroups) groups: SubscriptionGroups,
    @inject(Topics) topics: Topics,
    @inject(FilterRegistry) filters: FilterRegistry,
    @inject(QueueLocks) locks: QueueLocks,
  ) {
    this.#consumers = consumers;
    this.#producers = producers;
    this.#groups = groups;
    this.#topics = topics;
    this.#filters = filters;
    this.#locks = locks;
  }

  register(router: RequestRouter): void {
    router.handle(RequestCode.HEART_BEAT, (request, connection) => this.#heartbeat(request, connection));
    router.handle(RequestCode.UNREGISTER_CLIENT, (request, connection) => this.#unregister(request, connection));
    router.handle(RequestCode.CHECK_CLIENT_CONFIG, (request) => this.#checkClientConfig(request));
    router.handle(RequestCode.GET_CONSUMER_LIST_BY_GROUP, (request) => this.#consumerList(request));
  }

  /** All of a heartbeat is looked at before any of it takes effect. */
  #heartbeat(request: Request, connection: Connection): Reply {
    const data = decodeHeartbeat(request.body);
    this.#check(data, connection);
    const { language, version } = request;
    const client: Client = { clientId: data.clientID, connection, language, version };
    if (connection.closed) return success;
    for (const { groupName, unitMode } of data.consumerDataSet) this.#makeRetryTopic(groupName, unitMode);
    for (const consumer of data.consumerDataSet) {
      // As in 4.9 a consumer of a group that may not exist is listed too; its pulls are refused.
      const notify = this.#groups.find(consumer.groupName)?.notifyConsumerIdsChangedEnable ?? true;
      this.#consumers.heartbeat(client, consumer, notify);
    }
    for (const producer of data.producerDataSet) this.#producers.heartbeat(client, producer.groupName);
    return success;
  }

  #makeRetryTopic(group: string, unitMode: boolean): void {
    const settings = this.#groups.find(group);
    if (settings === undefined) return;
    const sysFlag = unitMode ? FLAG_UNIT_SUB : 0;
    this.#topics.createInternal(retryTopicOf(group), settings.retryQueueNums, Perm.READ | Perm.WRITE, sysFlag);
  }

  #unregister(request: Request, connection: Connection): Reply {
    const header = decodeUnregisterClient(request.ext);
    if (header.producerGroup !== undefined) this.#producers.leave(connection, header.producerGroup);
    const group = header.consumerGroup;
    if (group !== undefined) {
      const notify = this.#groups.all().get(group)?.notifyConsumerIdsChangedEnable ?? true;
      this.#consumers.leave(connection, group, notify);
      this.#locks.left(group, header.clientID);
    }
    return { code: ResponseCode.SUCCESS, ext: {} };
  }

  #checkClientConfig(request: Request): Reply {
    const { subscriptionData } = decodeCheckClientRequestBody(request.body);
    const type = subscriptionData?.expressionType;
    if (subscriptionData === undefined || type === undefined || type === '' || type === 'TAG') return success;
    if (this.#filters.get(type) === undefined) {
      const remark = `The broker does not support consumer to filter message by ${type}`;
      return { code: ResponseCode.SYSTEM_ERROR, remark };
    }
    try {
      this.#filters.compile(type, subscriptionData.subString);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      return { code: ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark: error.message };
    }
    return success;
  }

  #consumerList(request: Request): Reply {
    const { consumerGroup } = decodeGetConsumerListByGroup(request.ext);
    const body = this.#consumers.idList(consumerGroup);
    if (body === undefined) {
      return { code: ResponseCode.SYSTEM_ERROR, remark: `no consumer for this group, ${consumerGroup}` };
    }
    return { code: ResponseCode.SUCCESS, ext: {}, body };
  }

  #check(data: HeartbeatData, connection: Connection): void {
    if (data.clientID === '' || data.clientID.length > CLIENT_ID_LENGTH_MAX) {
      throw new FieldError('clientID', `must have 1 to ${CLIENT_ID_LENGTH_MAX} characters`);
    }
    for (const consumer of data.consumerDataSet) {
      const problem = groupProblem(consumer.groupName);
      if (problem !== undefined) throw new FieldError('consumerDataSet.groupName', `is not valid: ${problem}`);
      if (consumer.subscriptionDataSet.length > TOPICS_PER_GROUP_MAX) {
        throw new FieldError(
          'subscriptionDataSet',
          `of group ${consumer.groupName} names more than ${TOPICS_PER_GROUP_MAX} topics`,
        );
      }
    }
    for (const { groupName } of data.producerDataSet) {
      if (groupName === '' || groupName.length > PRODUCER_GROUP_LENGTH_MAX) {
        throw new FieldError('producerDataSet.groupName', `must have 1 to ${PRODUCER_GROUP_LENGTH_MAX} characters`);
      }
    }
    checkRoom(this.#consumers, data.consumerDataSet, connection, 'consumerDataSet');
    checkRoom(this.#producers, data.producerDataSet, connection, 'producerDataSet');
  }
}

/** A connection's groups over all its heartbeats are bounded, not only those of one. */
function checkRoom(
  table: Pick<ConsumerTable, 'groupsOf' | 'has'>,
  named: readonly { readonly groupName: string }[],
  connection: Connection,
  field: string,
): void {
  let count = table.groupsOf(connection);
  for (const { groupName } of named) if (!table.has(connection, groupName)) count++;
  if (count > GROUPS_PER_CONNECTION_MAX) {
    throw new FieldError(field, `puts one connection into more than ${GROUPS_PER_CONNECTION_MAX} groups`);
  }
}
