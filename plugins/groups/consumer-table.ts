import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import type { ConsumerData, SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import type { Connection } from '../remoting/contract.js';
import { Group, type GroupChange } from './consumer-group.js';
import type { ConsumerGroup, Consumers, ConsumersListener } from './contract.js';
import { Memberships, type Client } from './members.js';
import { Notifier } from './notifier.js';

const HABITS_CHANGED = 'consumer group changed how it consumes: all its members should do the same';

/** 4.9: ConsumerManager. */
@injectable()
export class ConsumerTable implements Consumers {
  readonly #options: Options;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groups = new Map<string, Group>();
  readonly #memberships = new Memberships();
  readonly #notifier: Notifier;
  readonly #listeners: ConsumersListener[] = [];

  constructor(
    @inject(Options) options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) logger: Logger,
    @inject(Notifier) notifier: Notifier,
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#notifier = notifier;
  }

  group(group: string): ConsumerGroup | undefined {
    return this.#groups.get(group);
  }

  /** Body of GET_CONSUMER_LIST_BY_GROUP; undefined when the group has no member. */
  idList(group: string): Buffer | undefined {
    return this.#groups.get(group)?.idList;
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
    const change = group.heard(client, data, this.#clock.monoMs());
    this.#memberships.add(client.connection, data.groupName);
    this.#log(group, client, change);
    for (const listener of this.#listeners) listener.register(data.groupName, group.subscriptions.values());
    if (notify && (change.joined || change.subscriptions.topicsChanged)) this.#notify(group);
  }

  /** 4.9: unregisterConsumer. */
  leave(connection: Connection, group: string, notify: boolean): void {
    this.#memberships.remove(connection, group);
    const left = this.#remove(group, connection, 'consumer left');
    if (left !== undefined && notify) this.#notify(left);
  }

  /** 4.9: doChannelCloseEvent. */
  closed(connection: Connection): void {
    for (const group of this.#memberships.take(connection)) {
      const left = this.#remove(group, connection, 'consumer gone: its connection closed');
      if (left !== undefined) this.#notify(left);
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

  #remove(name: string, connection: Connection, why: string): Group | undefined {
    const group = this.#groups.get(name);
    const before = group?.habits;
    const member = group?.left(connection);
    if (group === undefined || member === undefined) return undefined;
    const about = { group: name, clientId: member.clientId, client: connection.remote };
    this.#logger.info(about, why);
    if (group.members.count === 0) {
      this.#groups.delete(name);
      for (const listener of this.#listeners) listener.unregister(name);
      this.#logger.info({ group: name }, 'consumer group has no member any more');
    } else if (group.habits !== before) this.#logger.info({ group: name, before, now: group.habits }, HABITS_CHANGED);
    return group;
  }

  #notify(group: Group): void {
    if (this.#options.notifyConsumerIdsChangedEnable) this.#notifier.changed(group);
  }

  /** One line for each change: heartbeats that repeat what is known say nothing. */
  #log(group: Group, client: Client, { joined, replaced, subscriptions, habitsBefore: before }: GroupChange): void {
    const about = { group: group.group, clientId: client.clientId, client: client.connection.remote };
    if (joined) this.#logger.info({ ...about, consumeType: group.habits.consumeType }, 'consumer joined');
    if (replaced !== undefined && !replaced.connection.closed) {
      this.#logger.warn({ ...about, other: replaced.connection.remote }, 'client id is in use on two connections');
    }
    if (before !== undefined) this.#logger.warn({ ...about, before, now: group.habits }, HABITS_CHANGED);
    const { added, removed, replaced: changed } = subscriptions;
    if (added.length + removed.length + changed.length > 0)
      this.#logger.info({ ...about, added, removed, changed }, 'subscriptions changed');
  }
}
