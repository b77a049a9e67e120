import { queueName, type AllocationRule, type MessageQueue } from '../contract.js';

/**
 * The queues that this consumer was given by hand, whoever else is in the group (4.9: AllocateMessageQueueByConfig). They may be
 * of several topics; of each topic those are taken that exist. Nobody consumes what no consumer was given, nor, unless queues of
 * `%RETRY%group` are given, messages that failed. Throws RangeError when a queue is given twice.
 */
export function configRule(given: readonly MessageQueue[]): AllocationRule {
  const names = given.map(queueName);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new RangeError(`queue ${twice} is given twice`);
  return {
    name: 'CONFIG',
    allocate(_group, _currentClientId, queues) {
      const byName = new Map(queues.map((queue) => [queueName(queue), queue]));
      return names.map((name) => byName.get(name)).filter((queue) => queue !== undefined);
    },
  };
}
