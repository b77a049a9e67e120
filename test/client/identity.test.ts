import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { startBroker, type EmbeddedBroker } from '../../cli/embedded.js';
import { AdminClient, Producer, type MessageQueue } from '../../client/index.js';
import { decodeConsumerList } from '../../protocol/bodies/consumer-list.js';
import { RawClient } from '../support/raw-client.js';
import { until } from '../support/until.js';
import type { Got, Ids, Task } from './support/identity-worker.js';

const QUEUES = 16;

function start(task: Task): Worker {
  return new Worker(new URL('./support/identity-worker.js', import.meta.url), { workerData: task });
}

describe('B39: who a client is', () => {
  it('eight consumers in four worker threads of one process share the queues of their group', async () => {
    await using broker = await startBroker();
    const topic = 'T16';
    const group = 'G16';
    await using admin = new AdminClient({ namesrvAddr: broker.namesrvAddress });
    await admin.createTopic(topic, { readQueues: QUEUES, writeQueues: QUEUES, broker: broker.brokerAddress });
    const got: (Got & { worker: number })[] = [];
    const task: Task = { kind: 'consume', namesrvAddr: broker.namesrvAddress, group, topic, consumers: 2 };
    const workers = Array.from({ length: 4 }, (_, worker) => {
      const started = start(task);
      started.on('message', (one: Got) => void got.push({ ...one, worker }));
      return started;
    });
    try {
      await members(broker, group, 8);
      await using producer = new Producer({ namesrvAddr: broker.namesrvAddress, group: 'P16' });
      await producer.start();
      const consumersOf = (queueId: number): Set<string> =>
        new Set(got.filter((one) => one.queueId === queueId).map(({ worker, consumer }) => `${worker}/${consumer}`));
      // Until the last rebalance a queue may change hands; then each of the eight has two of them.
      const shared = async (): Promise<boolean> => {
        const expected = await round(producer, { topic, brokerName: broker.options.brokerName }, got);
        const owners = Array.from({ length: QUEUES }, (_, queueId) => [...consumersOf(queueId)].join());
        return expected && owners.every((owner) => !owner.includes(',')) && new Set(owners).size === 8;
      };
      await until(shared, 'eight consumers share sixteen queues', 20_000);
    } finally {
      for (const worker of workers) worker.postMessage('stop');
      await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))));
    }
  });

  it('a million message ids of eight worker threads, whose clocks go back on the way, are distinct', async () => {
    const tasks = Array.from({ length: 8 }, async () => {
      const worker = start({ kind: 'ids', count: 125_000, stepBackMs: 3_600_000 });
      return new Promise<Ids>((resolve, reject) => worker.once('message', resolve).once('error', reject));
    });
    const made = await Promise.all(tasks);
    assert.deepEqual(
      made.map(({ distinct }) => distinct),
      Array.from({ length: 8 }, () => 125_000),
    );
    const prefixes = made.flatMap((each) => each.prefixes);
    assert.equal(new Set(prefixes).size, prefixes.length, 'ids of different threads begin differently');
  });
});

/** Waits until the group has so many client ids. */
async function members(broker: EmbeddedBroker, consumerGroup: string, count: number): Promise<void> {
  using client = await RawClient.connect(broker.brokerAddress);
  const listed = async (): Promise<boolean> => {
    const { code, body } = await client.ask(38, { ext: { consumerGroup } });
    return code === 0 && new Set(decodeConsumerList(body).consumerIdList).size === count;
  };
  await until(listed, `${count} client ids are in the group`, 20_000);
}

/** Sends one message to each queue; true when each was consumed, and exactly once. `got` then holds those of this round alone. */
async function round(producer: Producer, queue: Omit<MessageQueue, 'queueId'>, got: Got[]): Promise<boolean> {
  got.length = 0;
  const body = `round ${++rounds}`;
  const { topic } = queue;
  for (let queueId = 0; queueId < QUEUES; queueId++)
    await producer.send({ topic, body }, { queue: { ...queue, queueId } });
  const ours = (): Got[] => got.filter((one) => one.body === body);
  await until(() => ours().length >= QUEUES, 'the round is consumed', 20_000);
  return got.length === QUEUES;
}

let rounds = 0;
