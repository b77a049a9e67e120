import { messageOf } from '../../kernel/base/errors.js';
import { averagelyRule } from '../../plugins/allocation/averagely/rule.js';
import type { AllocationRule } from '../../plugins/allocation/contract.js';
import { ClientError } from '../errors.js';
import { queueKey, type MessageQueue } from '../transport/message-queue.js';

/** The rule of a consumer's options. Throws ILLEGAL_ARGUMENT for what is none, as plain JavaScript may give. */
export function allocationRule(given: AllocationRule = averagelyRule): AllocationRule {
  if (typeof given?.name === 'string' && typeof given.allocate === 'function') return given;
  throw new ClientError('ILLEGAL_ARGUMENT', 'allocation is no rule with a name and a function allocate', {
    remedy: 'give a rule such as circleRule; of a plugin give plugin.create(options)',
  });
}

/** What a rule is asked about. */
export interface AllocationQuestion {
  readonly group: string;
  readonly clientId: string;
  readonly queues: readonly MessageQueue[];
  readonly clientIds: readonly string[];
}

/**
 * Asks a rule that may do anything. Throws an Error that names the rule when it throws or answers something else than queues
 * of the list, each once: the consumer then keeps what it has, as with 4.9 for a rule that throws (RebalanceImpl#rebalanceByTopic).
 */
export function allocate(
  rule: AllocationRule,
  { group, clientId, queues, clientIds }: AllocationQuestion,
): MessageQueue[] {
  // Copies: what the rule does to them harms nobody.
  const copies = queues.map((queue) => ({ ...queue }));
  let answer: unknown;
  try {
    answer = rule.allocate(group, clientId, copies, [...clientIds]);
  } catch (error) {
    throw new Error(`allocation rule ${rule.name} threw ${messageOf(error)}`, { cause: error });
  }
  // The promise of an async rule must not end the process when it rejects.
  if (answer instanceof Promise) answer.catch(() => undefined);
  if (!Array.isArray(answer)) throw new Error(`allocation rule ${rule.name} answered no list of queues`);
  const byKey = new Map(queues.map((queue) => [queueKey(queue), queue]));
  const taken = new Set<MessageQueue>();
  for (const one of answer as (MessageQueue | null | undefined)[]) {
    const key = one === null || one === undefined ? String(one) : queueKey(one);
    const queue = byKey.get(key);
    if (queue === undefined) throw new Error(`allocation rule ${rule.name} answered ${key}, no queue of the topic`);
    if (taken.has(queue)) throw new Error(`allocation rule ${rule.name} answered ${key} twice`);
    taken.add(queue);
  }
  return [...taken];
}
