import { messageOf } from '../../kernel/base/errors.js';
import { decodeOffsetMessageId } from '../../protocol/message/message-id.js';
import type { OutgoingMessage, ReceivedMessage } from '../message.js';
import { delayProperty, illegal } from './delay.js';
import { endCall, serveChecks, stateFrom, type TransactionState } from './end-transaction.js';
import { Producer, type ProducerOptions, type SendOptions } from './producer.js';
import { AUTO_CREATE_TOPIC } from './publish-table.js';
import type { SendResult } from './sender.js';

export type { TransactionState } from './end-transaction.js';

/** Does what belongs to the message, such as a change in a database. Throwing means `unknown`. */
export type LocalTransaction = (message: OutgoingMessage, half: SendResult) => Promise<TransactionState>;

/** Looks up what became of the transaction of this message, by its `msgId` or keys. Throwing means `unknown`. */
export type TransactionCheck = (message: ReceivedMessage) => Promise<TransactionState>;

export interface TransactionProducerOptions extends ProducerOptions {
  /** Asked by brokers about messages of this group that were neither committed nor rolled back, whoever of the group sent them. */
  readonly checkLocalTransaction: TransactionCheck;
  /** Checks that run at the same time. Default 16. */
  readonly checkConcurrency?: number;
  /**
   * Topics of the group: their brokers can ask this producer before it has sent anything. Not needed where brokers create topics on
   * a first send (`autoCreateTopicEnable`).
   */
  readonly topics?: readonly string[];
}

export interface TransactionResult extends SendResult {
  /** What the broker was told. After `unknown` it asks `checkLocalTransaction`. */
  readonly state: TransactionState;
  /** What the local transaction threw. */
  readonly error?: unknown;
}

/**
 * Sends messages that consumers see only when the transaction that belongs to them succeeded.
 *
 * ```ts
 * const producer = new TransactionProducer({
 *   namesrvAddr: '127.0.0.1:9876',
 *   group: 'orders',
 *   checkLocalTransaction: async ({ msgId }) => ((await orders.has(msgId)) ? 'commit' : 'rollback'),
 * });
 * await producer.start();
 * await producer.sendInTransaction({ topic: 'Order', body: '{"id":1}' }, async (message, { msgId }) => {
 *   await orders.insert(msgId, message.body);
 *   return 'commit';
 * });
 * ```
 *
 * The broker is told how it ended without an answer; what it does not hear, or `unknown`, it asks for after a while
 * (`transactionTimeOut`, `transactionCheckInterval`), at most `transactionCheckMax` times. 4.9: TransactionMQProducer.
 */
export class TransactionProducer extends Producer {
  readonly #group: string;
  readonly #topics: readonly string[];

  constructor(options: TransactionProducerOptions) {
    super(options);
    this.#group = options.group;
    this.#topics = options.topics ?? [];
    const { checkLocalTransaction: check, checkConcurrency: atOnce = 16 } = options;
    serveChecks(this.core, { group: options.group, check, atOnce });
  }

  /** Makes itself known to the brokers, which may ask at once. Rejects when no name server answers. */
  override async start(): Promise<void> {
    await super.start();
    try {
      // Its route names the brokers that create topics, now and later. 4.9: DefaultMQProducerImpl#start.
      for (const topic of [AUTO_CREATE_TOPIC, ...this.#topics]) await this.core.routes.refresh(topic);
      await this.core.heartbeat();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /**
   * Stores the message where no consumer sees it, runs the local transaction, and tells the broker to deliver the message (`commit`) or
   * to forget it (`rollback`). Resolves when the broker was told; rejects, without running anything, when the message was not stored.
   */
  async sendInTransaction(
    message: OutgoingMessage,
    local: LocalTransaction,
    options: SendOptions = {},
  ): Promise<TransactionResult> {
    if (delayProperty(message) !== undefined)
      throw illegal(message.topic, 'a message of a transaction cannot be delayed', 'leave the delay out');
    const half = await this.sendAs(message, options, this.#group);
    const outcome = await this.#run(message, half, local);
    await this.#tell(half, outcome);
    return { ...half, ...outcome };
  }

  /** As 4.9: what may not be safe on disk is rolled back, and nothing is done for it. */
  async #run(message: OutgoingMessage, half: SendResult, local: LocalTransaction): Promise<Outcome> {
    if (half.status !== 'SEND_OK') return { state: 'rollback' };
    try {
      return { state: stateFrom(await local(message, half)) };
    } catch (error) {
      const { topic, msgId } = { ...half, topic: message.topic };
      this.core.logger.warn({ topic, msgId, problem: messageOf(error) }, 'local transaction failed: state unknown');
      return { state: 'unknown', error };
    }
  }

  /** A failure is no error of the transaction: the broker will ask. */
  async #tell(half: SendResult, { state, error }: Outcome): Promise<void> {
    const { queue, msgId, queueOffset } = half;
    try {
      const { address } = await this.core.routes.findBroker(queue.topic, queue.brokerName);
      const call = endCall(state, error === undefined ? undefined : `local transaction: ${messageOf(error)}`, {
        producerGroup: this.#group,
        tranStateTableOffset: queueOffset,
        commitLogOffset: decodeOffsetMessageId(half.offsetMsgId).physicalOffset,
        fromTransactionCheck: false,
        msgId,
        transactionId: msgId,
        bname: queue.brokerName,
      });
      await this.core.transport.oneway(address, call);
    } catch (problem) {
      const context = { topic: queue.topic, msgId, state, problem: messageOf(problem) };
      this.core.logger.warn(context, 'the broker could not be told how the transaction ended; it will ask');
    }
  }
}

type Outcome = Pick<TransactionResult, 'state' | 'error'>;
