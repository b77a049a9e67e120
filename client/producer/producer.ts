import { ClientError } from '../errors.js';
import type { OutgoingMessage } from '../message.js';
import { checkGroup, checkSendTopic } from '../names.js';
import { ClientCore, type ClientOptions } from '../transport/client-core.js';
import { uniqueIds } from '../transport/client-id.js';
import { queueKey, type MessageQueue } from '../transport/message-queue.js';
import { MessageIds, prepare, prepareBatch, type PreparedMessage } from './prepare.js';
import { Sender, type QueueSelector, type SendResult } from './sender.js';

export interface ProducerOptions extends ClientOptions {
  /** Producer group: names the application. */
  readonly group: string;
  /** Time for one send with all its attempts, in milliseconds. Default 3,000. */
  readonly sendTimeoutMs?: number;
  /** Further attempts after a failed one, each on the next queue, on another broker where there is one. Default 2. */
  readonly retries?: number;
  /** Bodies of at least so many bytes are compressed. Default 4,096. */
  readonly compressOverBytes?: number;
  /** Largest body (or batch) in bytes, before compression. Default 4,194,304, as the brokers allow by default. */
  readonly maxMessageBytes?: number;
  /** Queues that a topic gets when a first send creates it, if the broker allows as many. Default 4. */
  readonly defaultTopicQueues?: number;
  /** Try again when a message was stored but not flushed or replicated in time: may store it twice. Default false. */
  readonly retryWhenNotStoredSafely?: boolean;
}

export interface SendOptions {
  /** Send to this queue, once, without further attempts. */
  readonly queue?: MessageQueue;
  /** Choose the queue; also without further attempts. */
  readonly selector?: (queues: readonly MessageQueue[], message: OutgoingMessage) => MessageQueue;
  /** Instead of `sendTimeoutMs`. */
  readonly timeoutMs?: number;
}

/**
 * Sends messages.
 *
 * ```ts
 * const producer = new Producer({ namesrvAddr: '127.0.0.1:9876', group: 'orders' });
 * await producer.start();
 * const { msgId, queueOffset } = await producer.send({ topic: 'Order', tag: 'created', body: '{"id":1}' });
 * await producer.stop();
 * ```
 *
 * All failures are ClientErrors. After REQUEST_TIMEOUT and CONNECTION_LOST the message may have been stored; sending the
 * same object again keeps its msgId, by which a consumer can tell that it knows it already.
 */
export class Producer implements AsyncDisposable {
  readonly #options: ProducerOptions;
  protected readonly core: ClientCore;
  readonly #sender: Sender;
  readonly #ids: MessageIds;
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(options: ProducerOptions) {
    checkGroup(options.group);
    this.#options = options;
    this.core = new ClientCore(options);
    this.#ids = new MessageIds(uniqueIds(this.core.clock));
    this.#sender = new Sender(this.core, {
      group: options.group,
      retries: options.retries ?? 2,
      defaultTopicQueues: options.defaultTopicQueues ?? 4,
      retryWhenNotStoredSafely: options.retryWhenNotStoredSafely ?? false,
    });
  }

  get clientId(): string {
    return this.core.clientId;
  }

  /** Begins heartbeats and route refresh. Connects to nobody yet: an unreachable name server shows with the first send. */
  start(): Promise<void> {
    if (this.#state !== 'new')
      return Promise.reject(new ClientError('NOT_RUNNING', `this producer is ${this.#state} and cannot be started`));
    this.#state = 'running';
    const group = this.#options.group;
    this.core.start({
      slavesToo: false,
      heartbeat: () => ({
        clientID: this.core.clientId,
        producerDataSet: [{ groupName: group }],
        consumerDataSet: [],
      }),
    });
    return Promise.resolve();
  }

  /** Sends one message and resolves when the broker stored it, with what it answered. Rejects with ClientError. */
  send(message: OutgoingMessage, options: SendOptions = {}): Promise<SendResult> {
    return this.sendAs(message, options, undefined);
  }

  /** `halfOf`: the group whose half message it becomes. */
  protected async sendAs(
    message: OutgoingMessage,
    options: SendOptions,
    halfOf: string | undefined,
  ): Promise<SendResult> {
    this.#check(message.topic);
    const prepared = await prepare(message, this.#ids, this.#limits(), halfOf);
    const timeoutMs = this.#timeoutMs(options);
    const { selector } = options;
    return this.#dispatch(prepared, timeoutMs, {
      ...options,
      ...(selector === undefined ? {} : { select: (queues) => selector(queues, message) }),
    });
  }

  /** Sends messages of one topic in one request; together they must not pass `maxMessageBytes`. Not compressed. */
  async sendBatch(
    messages: readonly OutgoingMessage[],
    options: Omit<SendOptions, 'selector'> = {},
  ): Promise<SendResult> {
    const prepared = prepareBatch(messages, this.#ids, this.#limits().bodyBytesMax);
    this.#check(prepared.topic);
    return this.#dispatch(prepared, this.#timeoutMs(options), options);
  }

  /** Resolves when the message was handed to the socket. Whether it was stored nobody tells. */
  async sendOneway(message: OutgoingMessage, options: Pick<SendOptions, 'queue'> = {}): Promise<void> {
    this.#check(message.topic);
    const prepared = await prepare(message, this.#ids, this.#limits());
    await this.#sender.sendOneway(prepared, options.queue);
  }

  /** The queues to which messages of the topic may be sent. */
  queues(topic: string): Promise<readonly MessageQueue[]> {
    this.#check(topic);
    return this.#sender.queues(topic);
  }

  /** Leaves the group and closes the connections. What is in flight is given up: await your sends before. */
  async stop(): Promise<void> {
    if (this.#state !== 'running') return;
    this.#state = 'stopped';
    await this.core.unregister({ producerGroup: this.#options.group });
    await this.core.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #dispatch(
    message: PreparedMessage,
    timeoutMs: number,
    options: { queue?: MessageQueue; select?: QueueSelector },
  ): Promise<SendResult> {
    if (options.queue !== undefined) return this.#sender.sendTo(message, options.queue, timeoutMs);
    if (options.select === undefined) return this.#sender.send(message, timeoutMs);
    const queues = await this.#sender.queues(message.topic);
    const queue = options.select(queues);
    if (!queues.some((one) => queueKey(one) === queueKey(queue)))
      throw new ClientError('ILLEGAL_ARGUMENT', `the selector for topic ${message.topic} returned none of its queues`);
    return this.#sender.sendTo(message, queue, timeoutMs);
  }

  #check(topic: string): void {
    if (this.#state !== 'running')
      throw new ClientError('NOT_RUNNING', `this producer is ${this.#state}`, { remedy: 'call start() first' });
    checkSendTopic(topic);
  }

  #timeoutMs(options: SendOptions): number {
    return options.timeoutMs ?? this.#options.sendTimeoutMs ?? 3000;
  }

  #limits(): { bodyBytesMax: number; compressOverBytes: number } {
    return {
      bodyBytesMax: this.#options.maxMessageBytes ?? 4 * 1024 * 1024,
      compressOverBytes: this.#options.compressOverBytes ?? 4096,
    };
  }
}
