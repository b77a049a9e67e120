import { createHash } from 'node:crypto';
import { takesPart, type AllocationRule, type MessageQueue } from '../contract.js';

/** A place on the ring, and the client that has it. */
interface Point {
  readonly hash: number;
  readonly clientId: string;
}

/**
 * Each client stands at `virtualNodes` places of a ring, a queue goes to the client of the next place: when a client comes or
 * goes, most queues stay where they are (4.9: AllocateMessageQueueConsistentHash, ten places by default).
 */
export function consistentHashRule(virtualNodes = 10): AllocationRule {
  if (!Number.isInteger(virtualNodes) || virtualNodes < 1 || virtualNodes > VIRTUAL_NODES_MAX)
    throw new RangeError(`virtual nodes are ${virtualNodes}, not a whole number within 1 … ${VIRTUAL_NODES_MAX}`);
  return {
    name: 'CONSISTENT_HASH',
    allocate(_group, currentClientId, queues, clientIds) {
      if (!takesPart(currentClientId, queues, clientIds)) return [];
      const ring = ringOf(clientIds, virtualNodes);
      return queues.filter((queue) => ownerOf(ring, queue) === currentClientId);
    },
  };
}

/** Each is one MD5 per client and rebalance. */
const VIRTUAL_NODES_MAX = 10_000;

/** 4.9: ConsistentHashRouter. A place that is taken goes to the later client; an id that comes twice gets further places. */
function ringOf(clientIds: readonly string[], virtualNodes: number): readonly Point[] {
  const owners = new Map<number, string>();
  const seen = new Set<string>();
  for (const clientId of clientIds) {
    const existing = seen.has(clientId) ? [...owners.values()].filter((owner) => owner === clientId).length : 0;
    seen.add(clientId);
    for (let node = existing; node < existing + virtualNodes; node++)
      owners.set(hashOf(`${clientId}-${node}`), clientId);
  }
  return [...owners].map(([hash, clientId]) => ({ hash, clientId })).sort((a, b) => a.hash - b.hash);
}

/** The client at the queue's hash or behind it, across the ring's end. The key is Java's MessageQueue#toString. */
function ownerOf(ring: readonly Point[], { topic, brokerName, queueId }: MessageQueue): string | undefined {
  const hash = hashOf(`MessageQueue [topic=${topic}, brokerName=${brokerName}, queueId=${queueId}]`);
  let low = 0;
  let high = ring.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ring[middle]!.hash < hash) low = middle + 1;
    else high = middle;
  }
  return (ring[low] ?? ring[0])?.clientId;
}

/** The first four bytes of the MD5. */
function hashOf(key: string): number {
  return createHash('md5').update(key).digest().readUInt32BE(0);
}
