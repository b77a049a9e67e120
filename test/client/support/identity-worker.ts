/** A worker thread of a process with several: consumers of a group, or message ids. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../../kernel/base/clock.js';
import { PushConsumer } from '../../../client/index.js';
import { uniqueIds } from '../../../client/transport/client-id.js';

export type Task =
  | {
      readonly kind: 'consume';
      readonly namesrvAddr: string;
      readonly group: string;
      readonly topic: string;
      readonly consumers: number;
    }
  | { readonly kind: 'ids'; readonly count: number; readonly stepBackMs: number };

/** What a consumer got, one for each message. */
export interface Got {
  readonly consumer: number;
  readonly queueId: number;
  readonly body: string;
}

export interface Ids {
  readonly distinct: number;
  /** What the ids of this thread begin with: address, process, random bytes. */
  readonly prefixes: readonly string[];
}

const PREFIX_LENGTH = 20;
const task = workerData as Task;
const port = parentPort;
if (port === null) throw new Error('this is a worker of a test');

/** The clock goes back in the middle. */
function ids({ count, stepBackMs }: Extract<Task, { kind: 'ids' }>): Ids {
  let steppedMs = 0;
  const generator = uniqueIds({ monoMs: systemClock.monoMs, wallMs: () => systemClock.wallMs() - steppedMs });
  const all = new Set<string>();
  const prefixes = new Set<string>();
  for (let i = 0; i < count; i++) {
    if (i === count / 2) steppedMs = stepBackMs;
    const id = generator.next();
    all.add(id);
    prefixes.add(id.slice(0, PREFIX_LENGTH));
  }
  return { distinct: all.size, prefixes: [...prefixes] };
}

async function consume({ namesrvAddr, group, topic, consumers }: Extract<Task, { kind: 'consume' }>): Promise<void> {
  const running = Array.from({ length: consumers }, () => new PushConsumer({ namesrvAddr, group, from: 'first' }));
  for (const [consumer, each] of running.entries()) {
    await each.subscribe(topic);
    await each.start((batch) => {
      for (const { queueId, body } of batch)
        port?.postMessage({ consumer, queueId, body: body.toString() } satisfies Got);
      return 'success';
    });
  }
  port?.once('message', () => {
    void Promise.all(running.map((each) => each.stop()));
  });
}

if (task.kind === 'ids') port.postMessage(ids(task));
else await consume(task);
