import { encodeConsumerList } from '../../protocol/bodies/consumer-list.js';
import type { ConsumerData, SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import type { Connection } from '../remoting/contract.js';
import type { ClientChannel, ConsumerGroup } from './contract.js';
import { Members, type Client, type Habits, type Member } from './members.js';
import { Subscriptions, type SubscriptionChange } from './subscriptions.js';

/** What a heartbeat did to its group. */
export interface GroupChange {
  readonly joined: boolean;
  /** The member of the same client id that was reachable before on another connection. */
  readonly replaced: Member | undefined;
  readonly subscriptions: SubscriptionChange;
  /** The group's habits before, when they are others now. */
  readonly habitsBefore: Habits | undefined;
}

/** One group and its live clients (4.9: ConsumerGroupInfo). */
export class Group implements ConsumerGroup {
  readonly group: string;
  readonly members = new Members();
  readonly #subscriptions = new Subscriptions();
  #habits: Habits;
  /** Whose habits the group has. */
  #speaker: Member | undefined;
  #idList: Buffer | undefined;

  constructor(data: ConsumerData) {
    this.group = data.groupName;
    this.#habits = habitsOf(data);
  }

  get habits(): Habits {
    return this.#habits;
  }

  get subscriptions(): ReadonlyMap<string, SubscriptionData> {
    return this.#subscriptions.table;
  }

  get channels(): ReadonlyMap<string, ClientChannel> {
    return this.members.byClient;
  }

  get connections(): Iterable<ClientChannel> {
    return this.members.all();
  }

  /** Body of GET_CONSUMER_LIST_BY_GROUP, made once for all members that ask after a change. */
  get idList(): Buffer {
    return (this.#idList ??= encodeConsumerList({ consumerIdList: [...this.members.byClient.keys()] }));
  }

  heard(client: Client, data: ConsumerData, nowMonoMs: number): GroupChange {
    const before = this.members.get(client.connection);
    if (before !== undefined && before.clientId !== client.clientId) this.left(client.connection);
    const { member, joined, replaced } = this.members.seen(client, nowMonoMs);
    if (joined) this.#idList = undefined;
    const subscriptions = this.#subscriptions.heard(member, this.members, data.subscriptionDataSet);
    return { joined, replaced, subscriptions, habitsBefore: this.#heardHabits(member, habitsOf(data)) };
  }

  left(connection: Connection): Member | undefined {
    const member = this.members.remove(connection);
    if (member === undefined) return undefined;
    this.#idList = undefined;
    this.#subscriptions.left(member);
    if (member === this.#speaker) {
      // Whoever spoke last of those that stay speaks for the group now.
      this.#speaker = [...this.members.all()].at(-1);
      this.#habits = this.#speaker?.habits ?? this.#habits;
    }
    return member;
  }

  /**
   * The member that joined or changed last decides. 4.9 takes each heartbeat's, so that members that disagree turn the group over
   * every few seconds.
   */
  #heardHabits(member: Member, habits: Habits): Habits | undefined {
    if (member.habits !== undefined && sameHabits(member.habits, habits)) return undefined;
    member.habits = habits;
    this.#speaker = member;
    const before = this.#habits;
    this.#habits = habits;
    return sameHabits(before, habits) ? undefined : before;
  }
}

function habitsOf({ consumeType, messageModel, consumeFromWhere }: ConsumerData): Habits {
  return { consumeType, messageModel, consumeFromWhere };
}

function sameHabits(a: Habits, b: Habits): boolean {
  return (
    a.consumeType === b.consumeType && a.messageModel === b.messageModel && a.consumeFromWhere === b.consumeFromWhere
  );
}
