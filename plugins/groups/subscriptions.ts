import type { SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import type { Member, Members } from './members.js';

/** What a round of subscriptions did to the group's table. */
export interface SubscriptionChange {
  /** A topic came or went: the members are told (4.9: ConsumerGroupInfo#updateSubscription). */
  readonly topicsChanged: boolean;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly replaced: readonly string[];
}

/** The same filter, whatever its version. */
function sameFilter(a: SubscriptionData, b: SubscriptionData): boolean {
  return (
    a.subString === b.subString &&
    a.expressionType === b.expressionType &&
    a.classFilterMode === b.classFilterMode &&
    sameItems(a.tagsSet, b.tagsSet) &&
    sameItems(a.codeSet, b.codeSet)
  );
}

/** Equal as sets: a client's hash order is no difference. */
function sameItems<T>(a: readonly T[], b: readonly T[]): boolean {
  if (a.length !== b.length) return false;
  const seen = new Set(a);
  return b.every((item) => seen.has(item));
}

/**
 * Whether `next` replaces `current`. 4.9 takes a larger version only, so that a client whose clock went back keeps its old
 * filter (B40). Here it is also taken when this very client changed its filter, or when no live client stands behind the current
 * one any more; two clients that disagree for good still do not take turns.
 */
function replaces(next: SubscriptionData, current: SubscriptionData, member: Member, members: Members): boolean {
  if (next.subVersion > current.subVersion) return true;
  if (sameFilter(next, current)) return false;
  const before = member.sent.get(next.topic);
  if (before !== undefined && !sameFilter(before, next)) return true;
  for (const other of members.all()) {
    if (other === member) continue;
    const sent = other.sent.get(next.topic);
    if (sent !== undefined && sameFilter(sent, current)) return false;
  }
  return true;
}

/** A group's subscriptions: of each topic that a live member names, the filter that is in force. */
export class Subscriptions {
  readonly table = new Map<string, SubscriptionData>();
  /** How many members name each topic. */
  readonly #namedBy = new Map<string, number>();

  /**
   * Brings the table to what `member` subscribes to now. 4.9 drops every topic that the last heartbeat did not name, so that members
   * with different topics refuse each other's pulls in turn.
   */
  heard(member: Member, members: Members, subscriptions: readonly SubscriptionData[]): SubscriptionChange {
    const added: string[] = [];
    const replaced: string[] = [];
    const sent = new Map<string, SubscriptionData>();
    for (const next of subscriptions) {
      const { topic } = next;
      if (!sent.has(topic) && !member.sent.has(topic)) this.#namedBy.set(topic, (this.#namedBy.get(topic) ?? 0) + 1);
      sent.set(topic, next);
      const current = this.table.get(topic);
      if (current === undefined) {
        this.table.set(topic, next);
        added.push(topic);
      } else if (replaces(next, current, member, members)) {
        if (!sameFilter(next, current)) replaced.push(topic);
        this.table.set(topic, next);
      }
    }
    const removed = this.#drop([...member.sent.keys()].filter((topic) => !sent.has(topic)));
    member.sent = sent;
    return { topicsChanged: added.length + removed.length > 0, added, removed, replaced };
  }

  left(member: Member): void {
    this.#drop(member.sent.keys());
  }

  #drop(topics: Iterable<string>): string[] {
    const removed: string[] = [];
    for (const topic of topics) {
      const others = (this.#namedBy.get(topic) ?? 0) - 1;
      if (others > 0) {
        this.#namedBy.set(topic, others);
        continue;
      }
      this.#namedBy.delete(topic);
      this.table.delete(topic);
      removed.push(topic);
    }
    return removed;
  }
}
