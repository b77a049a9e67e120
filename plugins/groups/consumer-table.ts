import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { RequestCode } from '../../protocol/codes.js';
import type { ConsumerData, SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { encodeNotifyConsumerIdsChanged } from '../../protocol/headers/notify-consumer-ids-changed.js';
import type { Connection } from '../remoting/contract.js';
import type { ConsumerGroup, Consumers, ConsumersListener } from './contract.js';
import { Members, Memberships, type Client } from './members.js';
import { updateSubscriptions } from './subscriptions.js';

/** One group and its live clients (4.9: ConsumerGroupInfo). */
class Group implements ConsumerGroup {
  readonly group: string;
  readonly members = new Members();
  readonly subscriptions = new Map<string, SubscriptionData>();
  consumeType: ConsumerData['consumeType'];
  messageModel: ConsumerData['messageModel'];
  consumeFromWhere: ConsumerData['consumeFromWhere'];

  constructor(data: ConsumerData) {
    this.group = data.groupName;
    this.consumeType = data.consumeType;
    this.messageModel = data.messageModel;
    this.consumeFromWhere = data.consumeFromWhere;
  }

  get channels(): Members['byClient'] {
    return this.members.byClient;
  }
}

/** 4.9: ConsumerManager. */
@injectable()
export class ConsumerTable implements Consumers {
  readonly #options: Options;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groups = new Map<string, Group>();
  readonly #memberships = new Memberships();
  readonly #toNotify = new Set<string>();
  readonly #listeners: ConsumersListener[] = [];

  constructor(@inject(Options) options: Options, @inject(Clock) clock: Clock, @inject(Logger) logger: Logger) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
  }

  group(group: string): ConsumerGroup | undefined {
    return this.#groups.get(group);
  }

  subscription(group: string, topic: string): SubscriptionData | undefined {
    return this.#groups.get(group)?.subscriptions.get(topic);
  }

  groupsOfTopic(topic: string): string[] {
    const names: string[] = [];
    for (const group of this.#groups.values()) if (group.subscriptions.has(topic)) names.push(group.group);
    return names;
  }

  all(): Iterable<ConsumerGroup> {
    return this.#groups.values();
  }

  listen(listener: ConsumersListener): void {
    this.#listeners.push(listener);
  }

  /** How many groups the connection is in. */
  groupsOf(connection: Connection): number {
    return this.#memberships.countOf(connection);
  }

  has(connection: Connection, group: string): boolean {
    return this.#memberships.has(connection, group);
  }

  /** 4.9: registerConsumer. `notify`: the group's own notifyConsumerIdsChangedEnable. */
  heartbeat(client: Client, data: ConsumerData, notify: boolean): void {
    let group = this.#groups.get(data.groupName);
    if (group === undefined) {
      group = new Group(data);
      this.#groups.set(data.groupName, group);
    }
    group.consumeType = data.consumeType;
    group.messageModel = data.messageModel;
    group.consumeFromWhere = data.consumeFromWhere;
    const { member, joined, replaced } = group.members.seen(client, this.#clock.monoMs());
    this.#memberships.add(client.connection, data.groupName);
    const change = updateSubscriptions(group.subscriptions, member, group.members, data.subscriptionDataSet);
    const about = { group: data.groupName, clientId: client.clientId, client: client.connection.remote };
    if (joined) this.#logger.info({ ...about, consumeType: data.consumeType }, 'consumer joined');
    if (replaced !== undefined && !replaced.connection.closed) {
      this.#logger.warn({ ...about, other: replaced.connection.remote }, 'client id is in use on two connections');
    }
    if (change.topicsChanged || change.replaced.length > 0) {
      const { added, removed, replaced: changed } = change;
      this.#logger.info({ ...about, added, removed, changed }, 'subscriptions changed');
    }
    for (const listener of this.#listeners) listener.register(data.groupName, group.subscriptions.values());
    if (notify && (joined || change.topicsChanged)) this.#notify(data.groupName);
  }

  /** 4.9: unregisterConsumer. */
  leave(connection: Connection, group: string, notify: boolean): void {
    this.#memberships.remove(connection, group);
    if (this.#remove(group, connection, 'consumer left') && notify) this.#notify(group);
  }

  /** 4.9: doChannelCloseEvent. */
  closed(connection: Connection): void {
    for (const group of this.#memberships.take(connection)) {
      if (this.#remove(group, connection, 'consumer gone: its connection closed')) this.#notify(group);
    }
  }

  /** 4.9: scanNotActiveChannel, by the monotonic clock; unlike there, those that stay are told. */
  expire(): void {
    const oldest = this.#clock.monoMs() - this.#options.clientExpiryMs;
    for (const [name, group] of this.#groups) {
      for (const member of [...group.members.all()]) {
        if (member.lastSeenMonoMs >= oldest) continue;
        this.leave(member.connection, name, true);
        member.connection.close(`no heartbeat of consumer ${member.clientId} for ${this.#options.clientExpiryMs} ms`);
      }
    }
  }

  #remove(name: string, connection: Connection, why: string): boolean {
    const group = this.#groups.get(name);
    const member = group?.members.remove(connection);
    if (group === undefined || member === undefined) return false;
    this.#logger.info({ group: name, clientId: member.clientId, client: connection.remote }, why);
    if (group.members.empty) {
      this.#groups.delete(name);
      for (const listener of this.#listeners) listener.unregister(name);
      this.#logger.info({ group: name }, 'consumer group has no member any more');
    }
    return true;
  }

  /** Once per group and turn: when a thousand members come back at once, each change would tell a thousand. */
  #notify(group: string): void {
    if (!this.#options.notifyConsumerIdsChangedEnable) return;
    if (this.#toNotify.size === 0) setImmediate(() => this.#tell());
    this.#toNotify.add(group);
  }

  #tell(): void {
    for (const name of this.#toNotify) {
      const group = this.#groups.get(name);
      if (group === undefined) continue;
      const ext = encodeNotifyConsumerIdsChanged({ consumerGroup: name });
      for (const member of group.members.all()) {
        if (!member.connection.closed) member.connection.notify(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext);
      }
    }
    this.#toNotify.clear();
  }
}
