import { messageOf } from '../../kernel/base/errors.js';
import type { AllocationRule } from '../../plugins/allocation/contract.js';
import type { TopicRouteData } from '../../protocol/bodies/route.js';
import { decodeConsumerList } from '../../protocol/bodies/consumer-list.js';
import { RequestCode } from '../../protocol/codes.js';
import { encodeGetConsumerListByGroup } from '../../protocol/headers/get-consumer-list-by-group.js';
import type { ClientCore } from '../transport/client-core.js';
import { compareQueues, MASTER_ID, queueKey, readableQueues, type MessageQueue } from '../transport/message-queue.js';
import { allocate } from './allocation.js';
import type { OffsetStore } from './offset-store.js';
import { pause } from './pause.js';
import { ProcessQueue } from './process-queue.js';
import type { QueueLocks } from './queue-locks.js';

export interface RebalancerOptions {
  readonly group: string;
  readonly broadcasting: boolean;
  readonly allocation: AllocationRule;
  /** Wait between attempts to commit a moved offset. */
  readonly errorMs: number;
  /** Wait before a queue is asked for again that another member had locked. */
  readonly lockRetryMs: number;
}

export interface RebalancerParts {
  readonly core: ClientCore;
  readonly offsets: OffsetStore;
  readonly signal: AbortSignal;
  readonly topics: () => Iterable<string>;
  /** Where to begin with a queue; rejects when that is not known. */
  readonly startOffset: (queue: MessageQueue) => Promise<number>;
  /** Begins to pull a queue. */
  readonly start: (process: ProcessQueue) => void;
  /** Ordered consumption: a queue is started once it is locked, and unlocked when nothing of it runs any more. */
  readonly locks: QueueLocks | undefined;
  /** Resolves when no listener of a dropped queue runs any more. */
  readonly settled: (process: ProcessQueue) => Promise<void>;
}

/** Decides which queues are this consumer's, and keeps the table of those that are. 4.9: RebalanceImpl. */
export class Rebalancer {
  readonly #options: RebalancerOptions;
  readonly #parts: RebalancerParts;
  readonly #processes = new Map<string, ProcessQueue>();
  /** Ordered consumption: queues that are given up and whose listeners still run. They stay in the table until then. */
  readonly #leaving = new Map<ProcessQueue, Promise<void>>();
  #running: Promise<void> | undefined;
  #again = false;
  #retrying = false;

  constructor(options: RebalancerOptions, parts: RebalancerParts) {
    this.#options = options;
    this.#parts = parts;
  }

  get processes(): readonly ProcessQueue[] {
    return [...this.#processes.values()];
  }

  /** One run at a time; calls during a run lead to one more after it. Never rejects. */
  run(): Promise<void> {
    if (this.#running !== undefined) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#runAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Moves the offset of queues, as the broker's reset asks: what is held of them no longer counts. */
  async reset(offsets: readonly (readonly [MessageQueue, number])[]): Promise<void> {
    const moved = offsets.map(async ([queue, offset]) => {
      const process = this.#processes.get(queueKey(queue));
      if (process !== undefined) await this.moveOffset(process, offset);
    });
    await Promise.all(moved);
  }

  /**
   * The offset of a queue does not exist (any more), or shall be another: drops what is held, commits the new offset and
   * begins again there. The queue stays stopped until the commit succeeded.
   */
  async moveOffset(process: ProcessQueue, offset: number): Promise<void> {
    const { offsets, core, signal } = this.#parts;
    const { queue } = process;
    const mine = (): boolean => this.#processes.get(queueKey(queue)) === process && !signal.aborted;
    core.logger.warn({ group: this.#options.group, queue, from: process.nextOffset, to: offset }, 'offset moved');
    process.dropped = true;
    process.lost = true;
    offsets.update(queue, offset, false);
    await this.#parts.settled(process);
    while (mine()) {
      try {
        await offsets.commit(queue);
        break;
      } catch (error) {
        core.logger.warn({ queue, offset, problem: messageOf(error) }, 'moved offset not committed, trying again');
        await pause(this.#options.errorMs, signal);
      }
    }
    if (!mine()) return;
    this.#processes.delete(queueKey(queue));
    offsets.forget(queue);
    void this.run();
  }

  /** Ordered consumption: another member may have the queue. What is held of it no longer counts, and it is asked for anew. */
  lose(process: ProcessQueue): void {
    this.#parts.core.logger.warn({ group: this.#options.group, queue: process.queue }, 'lock of a queue lost');
    process.lost = true;
    this.#parts.offsets.forget(process.queue);
    void this.#drop(process);
  }

  /** Takes nothing more and forgets all queues. The signal has fired, and running listeners were waited for. */
  async close(): Promise<void> {
    // A run may just be locking queues: they are unlocked before this consumer leaves.
    if (this.#parts.locks !== undefined) await this.#running;
    const { processes } = this;
    for (const process of processes) process.dropped = true;
    this.#processes.clear();
    await this.#parts.locks?.unlock(processes.filter(({ lost }) => !lost).map(({ queue }) => queue));
  }

  async #runAll(): Promise<void> {
    do {
      this.#again = false;
      const topics = new Set(this.#parts.topics());
      for (const topic of topics) {
        if (this.#parts.signal.aborted) return;
        try {
          await this.#topic(topic);
        } catch (error) {
          this.#parts.core.logger.warn(
            { group: this.#options.group, topic, problem: messageOf(error) },
            'not rebalanced',
          );
        }
      }
      const unsubscribed = this.processes.filter(({ queue }) => !topics.has(queue.topic));
      await Promise.all(unsubscribed.map((process) => this.#drop(process)));
    } while (this.#again && !this.#parts.signal.aborted);
  }

  async #topic(topic: string): Promise<void> {
    const route = await this.#parts.core.routes.find(topic);
    if (route === undefined) return;
    const queues = readableQueues(topic, route).sort(compareQueues);
    const mine = this.#options.broadcasting ? queues : await this.#allocated(route, queues);
    const keys = new Set(mine.map(queueKey));
    // All at once: the last one must not go on while the offset of the first is on its way.
    const lost = this.processes.filter(({ queue }) => queue.topic === topic && !keys.has(queueKey(queue)));
    await Promise.all(lost.map((process) => this.#drop(process)));
    await this.#take(mine.filter((queue) => !this.#processes.has(queueKey(queue))));
  }

  async #take(queues: readonly MessageQueue[]): Promise<void> {
    const { locks } = this.#parts;
    if (locks === undefined) {
      await Promise.all(queues.map((queue) => this.#add(queue, 0)));
      return;
    }
    if (queues.length === 0) return;
    const locked = await locks.lock(queues);
    const started = await Promise.all(locked.map(([queue, lockedMs]) => this.#add(queue, lockedMs)));
    const unused = locked.filter((_, index) => !started[index]).map(([queue]) => queue);
    if (unused.length > 0) await locks.unlock(unused);
    if (started.filter(Boolean).length < queues.length) void this.#retry();
  }

  /** A broker tells when a queue is unlocked that this consumer was refused; that of 4.9.7 does not. */
  async #retry(): Promise<void> {
    if (this.#retrying) return;
    this.#retrying = true;
    await pause(this.#options.lockRetryMs, this.#parts.signal);
    this.#retrying = false;
    if (!this.#parts.signal.aborted) void this.run();
  }

  async #allocated(route: TopicRouteData, queues: readonly MessageQueue[]): Promise<readonly MessageQueue[]> {
    if (queues.length === 0) return [];
    const { core } = this.#parts;
    let clientIds = await this.#clientIds(route);
    if (!clientIds.includes(core.clientId)) {
      // The broker forgot this client (it was restarted, or this process slept): say hello, then look again.
      await core.heartbeat();
      clientIds = await this.#clientIds(route);
    }
    if (clientIds.length === 0) return [];
    const { group, allocation } = this.#options;
    return allocate(allocation, { group, clientId: core.clientId, queues, clientIds: [...clientIds].sort() });
  }

  /** Every broker of the topic knows all members, since all of them send heartbeats to all brokers. */
  async #clientIds(route: TopicRouteData): Promise<readonly string[]> {
    const { core } = this.#parts;
    const broker = route.brokerDatas[Math.floor(Math.random() * route.brokerDatas.length)];
    const address = broker?.brokerAddrs.get(MASTER_ID) ?? broker?.brokerAddrs.values().next().value;
    if (address === undefined) throw new Error('no broker of the topic is registered');
    const ext = encodeGetConsumerListByGroup({ consumerGroup: this.#options.group });
    const call = { code: RequestCode.GET_CONSUMER_LIST_BY_GROUP, ext };
    const answer = await core.transport.request(address, call, core.requestTimeoutMs);
    return decodeConsumerList(answer.body).consumerIdList;
  }

  /** False: not started. */
  async #add(queue: MessageQueue, lockedMs: number): Promise<boolean> {
    const { core, offsets, signal } = this.#parts;
    offsets.forget(queue);
    let offset: number;
    try {
      offset = await this.#parts.startOffset(queue);
    } catch (error) {
      // Without a certain offset the queue waits for the next run: beginning anywhere would skip or repeat messages.
      core.logger.warn({ group: this.#options.group, queue, problem: messageOf(error) }, 'queue not started');
      return false;
    }
    if (signal.aborted || this.#processes.has(queueKey(queue))) return false;
    const process = new ProcessQueue(queue, offset, core.clock.monoMs());
    process.lockedMs = lockedMs;
    this.#processes.set(queueKey(queue), process);
    core.logger.info({ group: this.#options.group, queue, offset }, 'queue started');
    this.#parts.start(process);
    return true;
  }

  async #drop(process: ProcessQueue): Promise<void> {
    const { locks } = this.#parts;
    process.dropped = true;
    if (locks === undefined) {
      process.lost = true;
      this.#processes.delete(queueKey(process.queue));
      await this.#parts.offsets.persist([process.queue]);
      this.#forget(process);
    } else if (!this.#leaving.has(process)) {
      // Not awaited by a run: a listener that takes long holds up its own queue alone.
      this.#leaving.set(process, this.#handOver(process, locks));
    }
  }

  /** The next owner begins where this one's last listener ended. */
  async #handOver(process: ProcessQueue, locks: QueueLocks): Promise<void> {
    const { queue } = process;
    const { offsets, core, signal } = this.#parts;
    await this.#parts.settled(process);
    try {
      if (!process.lost) await offsets.commit(queue);
    } catch (error) {
      core.logger.warn({ queue, problem: messageOf(error) }, 'offset not committed before the queue is handed over');
    }
    this.#leaving.delete(process);
    if (this.#processes.get(queueKey(queue)) !== process) return;
    // Out of the table first: a renewal behind the unlocking would lock it again.
    this.#processes.delete(queueKey(queue));
    this.#forget(process);
    await locks.unlock([queue]);
    // It may have become this consumer's again meanwhile.
    if (!signal.aborted) void this.run();
  }

  #forget({ queue }: ProcessQueue): void {
    this.#parts.offsets.forget(queue);
    this.#parts.core.logger.info({ group: this.#options.group, queue }, 'queue given up');
  }
}
