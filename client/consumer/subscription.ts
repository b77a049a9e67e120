import type { SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { javaHash } from '../../protocol/message/hash.js';
import { ClientError } from '../errors.js';

/** What to take of a topic: an expression of tags (`a || b`, `*`), or one of another type such as SQL92. */
export type Expression = string | { readonly type: string; readonly expression: string };

const ALL = '*';
const TAG = 'TAG';

/** Java's String.trim. */
const trimmed = (text: string): string => text.replace(/^[\0- ]+|[\0- ]+$/g, '');

/**
 * The subscription as brokers know it. A broker takes only one with a larger version than it has, so the version grows
 * also when the wall clock steps back. 4.9: FilterAPI. Throws ILLEGAL_ARGUMENT.
 */
export function subscriptionOf(
  topic: string,
  expression: Expression,
  nowMs: number,
  previousVersion = 0,
): SubscriptionData {
  const type = typeof expression === 'string' ? TAG : expression.type;
  const text = typeof expression === 'string' ? expression : expression.expression;
  const base = { topic, subVersion: nextVersion(nowMs, previousVersion), expressionType: type, classFilterMode: false };
  if (type !== TAG) {
    if (trimmed(text) === '')
      throw new ClientError('ILLEGAL_ARGUMENT', `the ${type} expression for topic ${topic} is empty`);
    return { ...base, subString: text, tagsSet: [], codeSet: [] };
  }
  if (text === '' || text === ALL) return { ...base, subString: ALL, tagsSet: [], codeSet: [] };
  const tagsSet = [
    ...new Set(
      text
        .split('||')
        .map(trimmed)
        .filter((tag) => tag !== ''),
    ),
  ];
  if (tagsSet.length === 0)
    throw new ClientError(
      'ILLEGAL_ARGUMENT',
      `the expression ${JSON.stringify(text)} for topic ${topic} names no tag`,
      {
        remedy: 'write tag1 || tag2, or *',
      },
    );
  return { ...base, subString: text, tagsSet, codeSet: [...new Set(tagsSet.map(javaHash))] };
}

export function nextVersion(nowMs: number, previous: number): number {
  return Math.max(previous + 1, nowMs);
}

/** Tags may share a hash, and the broker compares hashes only. */
export function takesTag(subscription: SubscriptionData, tag: string | undefined): boolean {
  if (subscription.expressionType !== TAG || subscription.tagsSet.length === 0) return true;
  return tag !== undefined && subscription.tagsSet.includes(tag);
}
