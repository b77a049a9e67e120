import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { systemClock } from '../base/clock.js';
import type { LogLevel } from '../base/logger.js';
import { Doorbell } from '../ring/wait.js';
import { toWire, type WireError } from './errors.js';
import { ThreadLoop } from './host.js';
import { linuxThreadId } from './linux-thread.js';
import { createWorkerLogger } from './worker-logger.js';

/** What a thread is born with; its services come by `ThreadControl.add`, so that the first is no special case. */
export interface ThreadBoot {
  readonly name: string;
  readonly control: MessagePort;
  readonly bellWords: Int32Array;
  readonly bellSlot: number;
  readonly beat: Int32Array;
  /** One word, written once by the thread. */
  readonly linuxId: Int32Array;
  readonly logLevel: LogLevel;
}

/** The last word of a thread that ends because of an error. */
export interface LastWord {
  readonly died: WireError;
}

const boot = workerData as ThreadBoot;
Atomics.store(boot.linuxId, 0, linuxThreadId());
const loop = new ThreadLoop({
  control: boot.control,
  bell: new Doorbell(boot.bellWords, boot.bellSlot),
  beat: boot.beat,
  clock: systemClock,
  logger: createWorkerLogger(boot.logLevel, { name: boot.name }, systemClock),
});

try {
  await loop.run();
  // A handle that a service left open must not keep its thread.
  process.exit(0);
} catch (error) {
  const lastWord: LastWord = { died: toWire(error) };
  parentPort?.postMessage(lastWord);
  process.exit(1);
}
