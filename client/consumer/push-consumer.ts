import type { SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { isRetryTopic, retryTopicOf } from '../../protocol/message/names.js';
import { ClientError } from '../errors.js';
import type { ReceivedMessage } from '../message.js';
import { checkTopic } from '../names.js';
import { ClientCore } from '../transport/client-core.js';
import type { MessageQueue } from '../transport/message-queue.js';
import type { InnerListener, Listener } from './listener.js';
import { ConsumerEngine } from './engine.js';
import { HandOver } from './hand-over.js';
import { consumerSettings, type ConsumerSettings, type PushConsumerOptions } from './options.js';
import { subscriptionOf, type Expression } from './subscription.js';

/**
 * Consumes messages as they come, at least once each.
 *
 * ```ts
 * const consumer = new PushConsumer({ namesrvAddr: '127.0.0.1:9876', group: 'billing', from: 'first' });
 * await consumer.subscribe('Order', 'created || paid');
 * await consumer.start(async ([message]) => ((await book(message)) ? 'success' : 'later'));
 * // …
 * await consumer.stop();
 * ```
 *
 * A batch for which the listener answers `later` (or throws) is delivered again after a while, after 16 times it goes to
 * the topic `%DLQ%group`. In broadcasting a failed message is dropped.
 */
export class PushConsumer implements AsyncDisposable {
  readonly #options: PushConsumerOptions;
  readonly #settings: ConsumerSettings;
  readonly #core: ClientCore;
  readonly #subscriptions = new Map<string, SubscriptionData>();
  #engine: ConsumerEngine | undefined;
  #handOver: HandOver | undefined;
  #stopping: Promise<void> | undefined;
  #state: 'new' | 'starting' | 'running' | 'stopped' = 'new';

  constructor(options: PushConsumerOptions) {
    this.#settings = consumerSettings(options);
    this.#options = options;
    this.#core = new ClientCore(options);
    // Messages that failed come back through this topic. 4.9: DefaultMQPushConsumerImpl#copySubscription.
    if (this.#settings.model === 'clustering') this.#put(retryTopicOf(options.group), '*');
  }

  get clientId(): string {
    return this.#core.clientId;
  }

  /** The queues this consumer has at the moment. */
  get queues(): readonly MessageQueue[] {
    return this.#engine?.assigned.map(({ queue }) => queue) ?? [];
  }

  /**
   * Subscribes to a topic, or changes the expression: tags (`a || b`, default `*`), or another type, as
   * `{ type: 'SQL92', expression: 'amount > 5' }`. Before or after `start`. Rejects when the broker refuses the expression.
   */
  async subscribe(topic: string, expression: Expression = '*'): Promise<void> {
    this.#notStopped();
    checkTopic(topic);
    if (isRetryTopic(topic)) throw new ClientError('ILLEGAL_ARGUMENT', `${topic} is subscribed to by itself`);
    const subscription = this.#make(topic, expression);
    if (this.#engine !== undefined) {
      await this.#core.routes.refresh(topic);
      await this.#engine.checkExpression(subscription);
    }
    this.#subscriptions.set(topic, subscription);
    await this.#engine?.resubscribed();
  }

  /** Takes no more messages of the topic. */
  async unsubscribe(topic: string): Promise<void> {
    this.#notStopped();
    if (isRetryTopic(topic) || !this.#subscriptions.delete(topic)) return;
    this.#core.routes.forget(topic);
    await this.#engine?.resubscribed();
  }

  /**
   * Joins the group and begins to consume. Rejects with NAMESRV_UNREACHABLE, or REFUSED when a broker refuses a filter
   * expression; the consumer is then stopped. A topic that does not exist yet is taken up when it appears.
   */
  start(listener: Listener): Promise<void> {
    return this.#start(listener);
  }

  /**
   * The messages one by one, instead of a listener. Starts the consumer, and stops it when the loop ends. Asking for the
   * next message says that the one before is done; a message at which the loop is left comes again at the next start.
   *
   * ```ts
   * for await (const message of consumer.messages()) await book(message);
   * ```
   */
  async *messages(): AsyncGenerator<ReceivedMessage, void, void> {
    const handOver = new HandOver();
    this.#handOver = handOver;
    await this.#start((batch) => handOver.offer(batch));
    try {
      yield* handOver.messages();
    } finally {
      await this.stop();
    }
  }

  /** Pulls no more until `resume`; what is held already is still consumed. */
  pause(): void {
    if (this.#engine !== undefined) this.#engine.paused = true;
  }

  resume(): void {
    if (this.#engine !== undefined) this.#engine.paused = false;
  }

  /**
   * Waits for listeners that run (at most `stopTimeoutMs`), commits the offsets, leaves the group, closes the
   * connections. Messages that were pulled and not consumed come again.
   */
  stop(): Promise<void> {
    this.#state = 'stopped';
    this.#handOver?.close();
    this.#stopping ??= this.#engine === undefined ? this.#core.stop() : this.#engine.stop();
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #start(listener: InnerListener): Promise<void> {
    if (this.#state !== 'new')
      throw new ClientError('NOT_RUNNING', `this consumer is ${this.#state} and cannot be started`);
    if (typeof listener !== 'function') throw new ClientError('ILLEGAL_ARGUMENT', 'start needs a listener function');
    if (![...this.#subscriptions.keys()].some((topic) => !isRetryTopic(topic)))
      throw new ClientError('ILLEGAL_ARGUMENT', `group ${this.#options.group} subscribes to no topic`, {
        remedy: 'call subscribe first',
      });
    this.#state = 'starting';
    const engine = new ConsumerEngine(this.#core, this.#settings, this.#subscriptions, listener);
    this.#engine = engine;
    try {
      await engine.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (this.#state === 'starting') this.#state = 'running';
  }

  #put(topic: string, expression: Expression): void {
    this.#subscriptions.set(topic, this.#make(topic, expression));
  }

  #make(topic: string, expression: Expression): SubscriptionData {
    const previous = this.#subscriptions.get(topic)?.subVersion;
    return subscriptionOf(topic, expression, Math.round(this.#core.clock.wallMs()), previous);
  }

  #notStopped(): void {
    if (this.#state === 'stopped') throw new ClientError('NOT_RUNNING', 'this consumer was stopped');
  }
}
