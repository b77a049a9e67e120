import { takesPart, type AllocationRule } from '../contract.js';

/**
 * Neighbouring queues to each client; the first clients take one more when the division leaves a rest
 * (4.9: AllocateMessageQueueAveragely). The default of RocketMQ's consumers, so mixed groups need it.
 */
export const averagelyRule: AllocationRule = {
  name: 'AVG',
  allocate(_group, currentClientId, queues, clientIds) {
    if (!takesPart(currentClientId, queues, clientIds)) return [];
    const index = clientIds.indexOf(currentClientId);
    const share = Math.floor(queues.length / clientIds.length);
    const rest = queues.length % clientIds.length;
    const start = index * share + Math.min(index, rest);
    return queues.slice(start, start + share + (index < rest ? 1 : 0));
  },
};
