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
  /** Names the rule in logs, as Java's strategies do (AVG). */
  readonly name: string;
  /**
   * The queues of `currentClientId`, none of them twice and none that is not in `queues`; both lists are sorted and the same
   * for all, and never empty. Called for one topic at a time, the group's retry topic too. A client that is not in the list
   * gets nothing.
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
  /**
   * The rule. `options` is what stands behind the colon of `--allocate NAME:options`, empty when nothing does; a RangeError
   * says what is wrong with it.
   */
  create(options: string): AllocationRule;
}

/**
 * Declares an allocation plugin: a rule, or a function that makes one from options. Works from plain JavaScript; checks the
 * shape so that a mistake is named at load.
 */
export function defineAllocation(
  name: string,
  rule: AllocationRule | ((options: string) => AllocationRule),
): AllocationPlugin {
  if (typeof name !== 'string' || name === '') throw new TypeError('defineAllocation: name must be a non-empty string');
  const make = typeof rule === 'function' ? rule : without(name, checkedRule(name, rule));
  return { kind: 'allocation', name, create: (options) => checkedRule(name, make(options)) };
}

function without(name: string, rule: AllocationRule): (options: string) => AllocationRule {
  return (options) => {
    if (options !== '') throw new RangeError(`${name} takes no options`);
    return rule;
  };
}

function checkedRule(name: string, rule: AllocationRule): AllocationRule {
  if (typeof rule?.name !== 'string' || rule.name === '')
    throw new TypeError(`defineAllocation(${name}): rule.name must be a non-empty string`);
  if (typeof rule.allocate !== 'function')
    throw new TypeError(`defineAllocation(${name}): rule.allocate must be a function`);
  return rule;
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

/** Names a queue in errors, and tells queues apart. */
export function queueName({ topic, brokerName, queueId }: MessageQueue): string {
  return `${topic}/${brokerName}/${queueId}`;
}
