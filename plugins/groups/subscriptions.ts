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

/** Brings the group's table to what `member` subscribes to now: the last heartbeat decides which topics the group has. */
export function updateSubscriptions(
  table: Map<string, SubscriptionData>,
  member: Member,
  members: Members,
  subscriptions: readonly SubscriptionData[],
): SubscriptionChange {
  const added: string[] = [];
  const removed: string[] = [];
  const replaced: string[] = [];
  const sent = new Map<string, SubscriptionData>();
  for (const next of subscriptions) {
    sent.set(next.topic, next);
    const current = table.get(next.topic);
    if (current === undefined) {
      table.set(next.topic, next);
      added.push(next.topic);
    } else if (replaces(next, current, member, members)) {
      if (!sameFilter(next, current)) replaced.push(next.topic);
      table.set(next.topic, next);
    }
  }
  for (const topic of table.keys()) {
    if (sent.has(topic)) continue;
    table.delete(topic);
    removed.push(topic);
  }
  member.sent = sent;
  return { topicsChanged: added.length + removed.length > 0, added, removed, replaced };
}
