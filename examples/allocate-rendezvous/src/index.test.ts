import { describe, it } from 'node:test';
import { allocationConformance } from 'mqkernel/plugin';
import rendezvous from './index.js';

const queues = [0, 1, 2, 3].map((queueId) => ({ topic: 'Order', brokerName: 'broker-a', queueId }));

allocationConformance(rendezvous, { expected: [{ queues, shares: { only: [0, 1, 2, 3] } }] }, { describe, it });
