import { takesPart, type AllocationRule } from '../contract.js';

/** Dealt like cards: the first queue to the first client, the second to the second … (4.9: AllocateMessageQueueAveragelyByCircle). */
export const circleRule: AllocationRule = {
  name: 'AVG_BY_CIRCLE',
  allocate(_group, currentClientId, queues, clientIds) {
    if (!takesPart(currentClientId, queues, clientIds)) return [];
    const index = clientIds.indexOf(currentClientId);
    return queues.filter((_queue, at) => at % clientIds.length === index);
  },
};
