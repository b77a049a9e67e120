import { setMaxListeners } from 'node:events';
import path from 'node:path';
import { messageOf } from '../../kernel/base/errors.js';
import type { HeartbeatData, SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { encodeCheckClientRequestBody } from '../../protocol/bodies/check-client.js';
import { RequestCode } from '../../protocol/codes.js';
import { Sender } from '../producer/sender.js';
import type { ClientCore } from '../transport/client-core.js';
import { localIPv4 } from '../transport/client-id.js';
import { MASTER_ID } from '../transport/message-queue.js';
import { BrokerOffsetStore } from './broker-offset-store.js';
import { serveBrokers } from './broker-requests.js';
import { ConsumeStats } from './consume-stats.js';
import { Dispatcher } from './dispatcher.js';
import { FileOffsetStore } from './file-offset-store.js';
import type { Consumption, InnerListener } from './listener.js';
import type { OffsetStore } from './offset-store.js';
import type { ConsumerSettings } from './options.js';
import { OrderedDispatcher } from './ordered-dispatcher.js';
import { Puller } from './puller.js';
import { QueueLocks } from './queue-locks.js';
import { Rebalancer } from './rebalancer.js';
import { encodeRunningInfo } from './running-info.js';
import { SendBack } from './send-back.js';
import { consumeFromName, startOffset } from './start-offset.js';

/** 4.9 sends copies to the retry topic with a producer of this group (MixAll.CLIENT_INNER_PRODUCER_GROUP). */
const INNER_PRODUCER_GROUP = 'CLIENT_INNER_PRODUCER';

/** A running consumer: pulls, consumes, commits. Made by `PushConsumer.start`, used once. */
export class ConsumerEngine {
  readonly #core: ClientCore;
  readonly #settings: ConsumerSettings;
  readonly #subscriptions: ReadonlyMap<string, SubscriptionData>;
  readonly #broadcasting: boolean;
  readonly #abort = new AbortController();
  readonly #offsets: OffsetStore & { load?(): Promise<void> };
  readonly #stats: ConsumeStats;
  readonly #dispatcher: Consumption;
  /** Ordered consumption in a group: nobody else may have a queue. */
  readonly #locks: QueueLocks | undefined;
  readonly #puller: Puller;
  readonly #rebalancer: Rebalancer;
  readonly #startedWallMs: number;
  readonly #pulling = new Set<Promise<void>>();
  #ready = false;
  paused = false;

  constructor(
    core: ClientCore,
    settings: ConsumerSettings,
    subscriptions: ReadonlyMap<string, SubscriptionData>,
    listener: InnerListener,
  ) {
    this.#core = core;
    this.#settings = settings;
    this.#subscriptions = subscriptions;
    this.#broadcasting = settings.model === 'broadcasting';
    this.#startedWallMs = core.clock.wallMs();
    // Each queue may wait on it; how many there are is known to the brokers alone.
    setMaxListeners(0, this.#abort.signal);
    this.#offsets = this.#broadcasting
      ? new FileOffsetStore(offsetFile(settings), core.logger)
      : new BrokerOffsetStore(core, settings.group);
    this.#stats = new ConsumeStats(core.clock);
    if (settings.orderly && !this.#broadcasting)
      this.#locks = new QueueLocks(core, settings.group, settings.periods.lockValidMs);
    this.#dispatcher = this.#makeDispatcher(listener);
    this.#rebalancer = this.#makeRebalancer();
    this.#puller = this.#makePuller();
  }

  /** Rejects when no name server answers, a filter expression is refused, or stored offsets cannot be read. */
  async start(): Promise<void> {
    const { periods } = this.#settings;
    await this.#offsets.load?.();
    this.#serve();
    this.#core.start({ slavesToo: true, heartbeat: () => this.#heartbeat() });
    for (const topic of this.#subscriptions.keys()) await this.#core.routes.refresh(topic);
    for (const subscription of this.#subscriptions.values()) await this.checkExpression(subscription);
    await this.#core.heartbeat();
    this.#ready = true;
    this.#core.routes.onChange(() => void this.#rebalancer.run());
    this.#core.every(periods.rebalanceMs, () => this.#rebalancer.run());
    this.#core.every(periods.persistMs, () => this.#persist());
    this.#core.every(periods.expiryMs, async () => {
      for (const process of this.#rebalancer.processes) await this.#dispatcher.giveUpExpired(process);
    });
    if (this.#locks !== undefined) this.#core.every(periods.lockMs, () => this.#renewLocks());
    await this.#rebalancer.run();
  }

  /** Takes nothing more, lets running listeners finish, commits, leaves the group. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#dispatcher.drain(this.#settings.stopTimeoutMs);
    await Promise.all(
      this.#rebalancer.processes.map(async ({ queue }) => {
        try {
          await this.#offsets.commit(queue);
        } catch (error) {
          this.#core.logger.warn({ queue, problem: messageOf(error) }, 'offset not committed at the end');
        }
      }),
    );
    await this.#rebalancer.close();
    await this.#core.unregister({ consumerGroup: this.#settings.group });
    await this.#core.stop();
    await Promise.all(this.#pulling);
  }

  /** After subscriptions changed: the brokers first, then the queues. */
  async resubscribed(): Promise<void> {
    await this.#core.heartbeat();
    await this.#rebalancer.run();
  }

  /** Asks a broker of the topic whether it takes the expression. Tag expressions need no question. */
  async checkExpression(subscription: SubscriptionData): Promise<void> {
    if (subscription.expressionType === 'TAG') return;
    const route = await this.#core.routes.find(subscription.topic);
    const address = route?.brokerDatas[0]?.brokerAddrs.get(MASTER_ID);
    if (address === undefined) return;
    const body = encodeCheckClientRequestBody({
      clientId: this.#core.clientId,
      group: this.#settings.group,
      subscriptionData: subscription,
    });
    const call = { code: RequestCode.CHECK_CLIENT_CONFIG, body };
    await this.#core.transport.request(address, call, this.#core.requestTimeoutMs);
  }

  /** Queues this consumer has, with what it holds of each. */
  get assigned(): Rebalancer['processes'] {
    return this.#rebalancer.processes;
  }

  #makeDispatcher(listener: InnerListener): Consumption {
    const { group, concurrency, batchMax, consumeTimeoutMs, maxReconsumeTimes, periods } = this.#settings;
    const sender = new Sender(this.#core, {
      group: INNER_PRODUCER_GROUP,
      retries: 2,
      defaultTopicQueues: 4,
      retryWhenNotStoredSafely: false,
    });
    const options = { group, broadcasting: this.#broadcasting, concurrency, batchMax };
    const parts = {
      clock: this.#core.clock,
      logger: this.#core.logger,
      offsets: this.#offsets,
      sendBack: new SendBack(this.#core, group, sender, maxReconsumeTimes),
      stats: this.#stats,
      signal: this.#abort.signal,
    };
    if (!this.#settings.orderly)
      return new Dispatcher(listener, { ...options, consumeTimeoutMs, localRetryMs: periods.localRetryMs }, parts);
    return new OrderedDispatcher(
      listener,
      { ...options, maxReconsumeTimes, suspendMs: this.#settings.suspendCurrentQueueMs },
      {
        ...parts,
        holds: (process) => this.#locks?.holds(process) ?? true,
        lost: (process) => this.#rebalancer.lose(process),
      },
    );
  }

  #makeRebalancer(): Rebalancer {
    const { group, allocation, from, periods } = this.#settings;
    return new Rebalancer(
      {
        group,
        broadcasting: this.#broadcasting,
        allocation,
        errorMs: periods.pullErrorMs,
        lockRetryMs: periods.lockRetryMs,
      },
      {
        core: this.#core,
        offsets: this.#offsets,
        signal: this.#abort.signal,
        topics: () => this.#subscriptions.keys(),
        startOffset: (queue) => startOffset(this.#core, this.#offsets, queue, from),
        start: (process) => {
          const pulling = this.#puller.run(process).finally(() => this.#pulling.delete(pulling));
          this.#pulling.add(pulling);
        },
        locks: this.#locks,
        settled: (process) => this.#dispatcher.settled(process),
      },
    );
  }

  #makePuller(): Puller {
    const { periods, ...settings } = this.#settings;
    // In order the messages held are always neighbours.
    const heldSpanMax = settings.orderly ? Infinity : settings.heldSpanMax;
    return new Puller(
      { ...settings, heldSpanMax, errorMs: periods.pullErrorMs, flowMs: periods.flowMs },
      {
        core: this.#core,
        offsets: this.#offsets,
        dispatcher: this.#dispatcher,
        stats: this.#stats,
        signal: this.#abort.signal,
        subscription: (topic) => this.#subscriptions.get(topic),
        paused: () => this.paused,
        offsetMoved: (process, offset) => this.#rebalancer.moveOffset(process, offset),
      },
    );
  }

  #serve(): void {
    serveBrokers(
      this.#core.transport,
      {
        group: this.#settings.group,
        orderly: this.#settings.orderly,
        // 4.9 tells the group of a new member before it has noted what the member subscribes to: too early to pull.
        rebalance: () => void (this.#ready && this.#rebalancer.run()),
        resetOffsets: (offsets) => void this.#rebalancer.reset(offsets),
        offsets: (topic) => this.#offsetsOf(topic),
        runningInfo: (listeners) => this.#runningInfo(listeners),
        consumeDirectly: (message, queue) => this.#dispatcher.direct(message, queue),
      },
      this.#core.clock,
    );
  }

  #offsetsOf(topic: string): (readonly [Rebalancer['processes'][number]['queue'], number])[] {
    return this.#rebalancer.processes
      .map(({ queue }) => [queue, this.#offsets.current(queue) ?? -1] as const)
      .filter(([queue, offset]) => offset >= 0 && (topic === '' || queue.topic === topic));
  }

  #runningInfo(listeners: boolean): Buffer {
    const { clock } = this.#core;
    return encodeRunningInfo({
      nameServers: this.#core.nameServers.addresses,
      startedWallMs: this.#startedWallMs,
      concurrency: this.#settings.concurrency,
      orderly: this.#settings.orderly,
      subscriptions: [...this.#subscriptions.values()],
      processes: this.#rebalancer.processes,
      offsets: this.#offsets,
      stats: this.#stats,
      listeners,
      nowMonoMs: clock.monoMs(),
      wallOf: (monoMs) => Math.round(clock.wallMs() - (clock.monoMs() - monoMs)),
    });
  }

  async #renewLocks(): Promise<void> {
    const gone = await this.#locks?.renew(this.#rebalancer.processes);
    for (const process of gone ?? []) this.#rebalancer.lose(process);
  }

  #persist(): Promise<void> {
    return this.#offsets.persist(this.#rebalancer.processes.filter((one) => !one.dropped).map(({ queue }) => queue));
  }

  #heartbeat(): HeartbeatData {
    return {
      clientID: this.#core.clientId,
      producerDataSet: [{ groupName: INNER_PRODUCER_GROUP }],
      consumerDataSet: [
        {
          groupName: this.#settings.group,
          consumeType: 'CONSUME_PASSIVELY',
          messageModel: this.#broadcasting ? 'BROADCASTING' : 'CLUSTERING',
          consumeFromWhere: consumeFromName(this.#settings.from),
          subscriptionDataSet: [...this.#subscriptions.values()],
          unitMode: false,
        },
      ],
    };
  }
}

/** The place where 4.9's LocalFileOffsetStore has it; its client id is `ip@instanceName`, the same after a restart. */
function offsetFile(settings: ConsumerSettings): string {
  return path.join(settings.offsetDir, `${localIPv4()}@${settings.instanceName}`, settings.group, 'offsets.json');
}
