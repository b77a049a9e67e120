import { createHash } from 'node:crypto';
import { defineAllocation, type AllocationRule, type MessageQueue } from 'mqkernel/plugin';

/**
 * Rendezvous hashing: each queue goes to the member whose hash with it is the greatest. When a member leaves, only its queues
 * move; when one comes, it takes only what it will keep.
 */
export const rendezvousRule: AllocationRule = {
  name: 'RENDEZVOUS',
  allocate(_group, clientId, queues, clientIds) {
    return queues.filter((queue) => ownerOf(queue, clientIds) === clientId);
  },
};

export default defineAllocation('rendezvous', rendezvousRule);

/** The list is the same for all members; with equal hashes the first one has it. */
function ownerOf({ topic, brokerName, queueId }: MessageQueue, clientIds: readonly string[]): string | undefined {
  let owner: string | undefined;
  let greatest = -1;
  for (const clientId of clientIds) {
    const hash = hashOf(`${topic}/${brokerName}/${queueId}/${clientId}`);
    if (hash <= greatest) continue;
    greatest = hash;
    owner = clientId;
  }
  return owner;
}

/** 48 bits: a number holds them exactly. */
function hashOf(text: string): number {
  return createHash('md5').update(text).digest().readUIntBE(0, 6);
}
