import averagely from '../../plugins/allocation/averagely/index.js';
import circle from '../../plugins/allocation/circle/index.js';
import config from '../../plugins/allocation/config/index.js';
import consistentHash from '../../plugins/allocation/consistent-hash/index.js';
import machineRoomNearby from '../../plugins/allocation/machine-room-nearby/index.js';
import machineRoom from '../../plugins/allocation/machine-room/index.js';
import { allocationConformance, type MessageQueue } from '../../plugins/plugin-api.js';

const queues = (count: number, ...brokers: string[]): MessageQueue[] =>
  brokers.flatMap((brokerName) => Array.from({ length: count }, (_, queueId) => ({ topic: 'T', brokerName, queueId })));

allocationConformance(
  averagely,
  { expected: [{ queues: queues(7, 'b'), shares: { a: [0, 1, 2], b: [3, 4], c: [5, 6] } }] },
  { describe, it },
);

allocationConformance(
  circle,
  { expected: [{ queues: queues(7, 'b'), shares: { a: [0, 3, 6], b: [1, 4], c: [2, 5] } }] },
  { describe, it },
);

// The shares are those of Java's AllocateMessageQueueConsistentHash.
for (const [options, shares] of [
  ['', { a: [1, 2, 3, 6, 7], b: [0, 4, 5] }],
  ['1', { a: [0, 1, 3, 6, 7], b: [2, 4, 5] }],
] as const)
  allocationConformance(
    consistentHash,
    { options, expected: [{ queues: queues(4, 'x', 'y'), shares }] },
    { describe, it },
  );

/** Each client has a broker of its own. */
const ownBroker: Readonly<Record<string, string>> = { c1: 'topic/b1/0-9,T/x/2', c2: 'topic/b2/0-9,T/x/1,T/x/0' };
allocationConformance(
  config,
  {
    options: (clientId) => ownBroker[clientId]!,
    clientIds: ['c1', 'c2'],
    brokers: ['b1', 'b2', 'b3'],
    leavesQueues: true,
    expected: [{ queues: queues(4, 'x'), shares: { c1: [2], c2: [1, 0] } }],
  },
  { describe, it },
);

allocationConformance(
  machineRoom,
  {
    options: 'east,west',
    brokers: ['east@a', 'north@a', 'plain', 'west@b'],
    leavesQueues: true,
    expected: [{ queues: queues(3, 'east@a', 'north@a', 'west@b'), shares: { a: [0, 1], b: [2, 6], c: [7, 8] } }],
  },
  { describe, it },
);

for (const [inner, near, far] of [
  ['', [0, 1], [8, 9]],
  ['circle;', [0, 2], [8, 10]],
] as const)
  allocationConformance(
    machineRoomNearby,
    {
      options: `${inner}east=e,10.1.;west=w,10.2.;north=n,10.3.`,
      clientIds: ['10.1.0.1@1', '10.1.0.2@1', '10.2.0.1@1', '10.3.0.1@1'],
      brokers: ['e1', 'e2', 'n1', 'w1'],
      // East has two clients, west one, north none.
      expected: [
        {
          queues: [...queues(4, 'e1'), ...queues(2, 'w1'), ...queues(2, 'w2'), ...queues(6, 'n1')],
          shares: {
            '10.1.0.1@1': [...near, ...(inner === '' ? far : [8, 11])],
            '10.1.0.2@1': inner === '' ? [2, 3, 10, 11] : [1, 3, 9, 12],
            '10.2.0.1@1': inner === '' ? [4, 5, 6, 7, 12, 13] : [4, 5, 6, 7, 10, 13],
          },
        },
      ],
    },
    { describe, it },
  );
