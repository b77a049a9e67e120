/** One queue of a topic on one broker. */
export interface MessageQueue {
  readonly topic: string;
  readonly brokerName: string;
  readonly queueId: number;
}

/**
 * Which queues of a topic a consumer takes. Every consumer of the group decides for itself from the same lists, so a rule must
 * be pure and depend on nothing else: then each queue gets exactly one consumer.
 */
export interface AllocationRule {
  /** Names the rule in logs and running info, as Java's strategies do (AVG). */
  readonly name: string;
  /**
   * The queues of `currentClientId`; both lists are sorted and the same for all. Empty when the client is not in the list.
   * Throws RangeError when the client id or a list is empty.
   */
  allocate(
    group: string,
    currentClientId: string,
    queues: readonly MessageQueue[],
    clientIds: readonly string[],
  ): MessageQueue[];
}

/** An allocation rule is a plugin of its own kind: the pure rule and the name under which it is found. */
export interface AllocationPlugin {
  readonly kind: 'allocation';
  readonly name: string;
  readonly rule: AllocationRule;
}

/** Declares an allocation plugin. Works from plain JavaScript; checks the shape so that a mistake is named at load. */
export function defineAllocation(name: string, rule: AllocationRule): AllocationPlugin {
  if (typeof name !== 'string' || name === '') throw new TypeError('defineAllocation: name must be a non-empty string');
  if (typeof rule?.name !== 'string' || rule.name === '')
    throw new TypeError(`defineAllocation(${name}): rule.name must be a non-empty string`);
  if (typeof rule.allocate !== 'function')
    throw new TypeError(`defineAllocation(${name}): rule.allocate must be a function`);
  return { kind: 'allocation', name, rule };
}

/** What every rule checks first (4.9: AbstractAllocateMessageQueueStrategy#check). False: the client gets nothing. */
export function takesPart(
  currentClientId: string,
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
): boolean {
  if (currentClientId === '') throw new RangeError('the client id is empty');
  if (queues.length === 0) throw new RangeError('there are no queues to allocate');
  if (clientIds.length === 0) throw new RangeError('the group has no clients');
  return clientIds.includes(currentClientId);
}
