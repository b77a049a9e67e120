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

export interface RebalancerOptions {
  readonly group: string;
  readonly broadcasting: boolean;
  readonly allocation: AllocationRule;
  /** Wait between attempts to commit a moved offset. */
  readonly errorMs: number;
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
}

/** Decides which queues are this consumer's, and keeps the table of those that are. 4.9: RebalanceImpl. */
export class Rebalancer {
  readonly #options: RebalancerOptions;
  readonly #parts: RebalancerParts;
  readonly #processes = new Map<string, ProcessQueue>();
  #running: Promise<void> | undefined;
  #again = false;

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
    while (mine()) {
      offsets.update(queue, offset, false);
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

  /** Takes nothing more and forgets all queues. */
  close(): void {
    for (const process of this.#processes.values()) process.dropped = true;
    this.#processes.clear();
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
    await Promise.all(mine.filter((queue) => !this.#processes.has(queueKey(queue))).map((queue) => this.#add(queue)));
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

  async #add(queue: MessageQueue): Promise<void> {
    const { core, offsets, signal } = this.#parts;
    offsets.forget(queue);
    let offset: number;
    try {
      offset = await this.#parts.startOffset(queue);
    } catch (error) {
      // Without a certain offset the queue waits for the next run: beginning anywhere would skip or repeat messages.
      core.logger.warn({ group: this.#options.group, queue, problem: messageOf(error) }, 'queue not started');
      return;
    }
    if (signal.aborted || this.#processes.has(queueKey(queue))) return;
    const process = new ProcessQueue(queue, offset, core.clock.monoMs());
    this.#processes.set(queueKey(queue), process);
    core.logger.info({ group: this.#options.group, queue, offset }, 'queue started');
    this.#parts.start(process);
  }

  async #drop(process: ProcessQueue): Promise<void> {
    const { queue } = process;
    process.dropped = true;
    this.#processes.delete(queueKey(queue));
    await this.#parts.offsets.persist([queue]);
    this.#parts.offsets.forget(queue);
    this.#parts.core.logger.info({ group: this.#options.group, queue }, 'queue given up');
  }
}
