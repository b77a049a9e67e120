import type { InjectionToken } from 'tsyringe';
import type { SubscriptionGroupConfig } from '../../protocol/bodies/subscription-group.js';
import type { ConsumerData, SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import type { DataVersion } from '../../protocol/bodies/topic-config.js';
import type { Connection } from '../remoting/contract.js';

/** Subscription-group settings (4.9: SubscriptionGroupManager), kept in `config/subscriptionGroup.json`. */
export interface SubscriptionGroups {
  /** The group's settings; created with defaults when auto creation is on. Undefined when the group may not exist. */
  find(group: string): SubscriptionGroupConfig | undefined;
  all(): ReadonlyMap<string, SubscriptionGroupConfig>;
  readonly dataVersion: DataVersion;
  put(config: SubscriptionGroupConfig): Promise<void>;
  delete(group: string): Promise<void>;
}
export const SubscriptionGroups: InjectionToken<SubscriptionGroups> = Symbol('SubscriptionGroups');

export interface ClientChannel {
  readonly clientId: string;
  readonly connection: Connection;
  readonly language: number;
  readonly version: number;
  readonly lastSeenMonoMs: number;
}

export interface ConsumerGroup {
  readonly group: string;
  /** Those of the member that joined or changed last. */
  readonly habits: Pick<ConsumerData, 'consumeType' | 'messageModel' | 'consumeFromWhere'>;
  /** By client id; of two connections with one id the newest. */
  readonly channels: ReadonlyMap<string, ClientChannel>;
  /** All of them, also where two have one client id. */
  readonly connections: Iterable<ClientChannel>;
  readonly subscriptions: ReadonlyMap<string, SubscriptionData>;
}

/** Live clients (4.9: ConsumerManager, ProducerManager). */
export interface Consumers {
  group(group: string): ConsumerGroup | undefined;
  subscription(group: string, topic: string): SubscriptionData | undefined;
  /** Groups that subscribe to the topic now. */
  groupsOfTopic(topic: string): string[];
  all(): Iterable<ConsumerGroup>;
  /** Whom to tell what groups subscribe to. */
  listen(listener: ConsumersListener): void;
}

export interface ConsumersListener {
  /** After each heartbeat of a member: what the group subscribes to. */
  register(group: string, subscriptions: Iterable<SubscriptionData>): void;
  /** Its last member left. */
  unregister(group: string): void;
}
export const Consumers: InjectionToken<Consumers> = Symbol('Consumers');

export interface Producers {
  channels(group: string): ReadonlyMap<string, ClientChannel> | undefined;
  all(): Iterable<[group: string, channels: ReadonlyMap<string, ClientChannel>]>;
}
export const Producers: InjectionToken<Producers> = Symbol('Producers');
