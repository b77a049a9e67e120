import { messageOf } from '../../kernel/base/errors.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { ExtFields } from '../../protocol/command.js';
import { decodeSendMessageResponse } from '../../protocol/headers/send-message.js';
import { encodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { ClientError, isTransportFailure } from '../errors.js';
import type { Answer, Call } from '../transport/channel.js';
import type { ClientCore } from '../transport/client-core.js';
import type { MessageQueue } from '../transport/message-queue.js';
import { refused } from '../transport/transport.js';
import type { PreparedMessage } from './prepare.js';
import { AUTO_CREATE_TOPIC, nextQueue, PublishTable } from './publish-table.js';

/** Stored; anything but SEND_OK says that the wanted safety was not reached in time. */
export type SendStatus = 'SEND_OK' | 'FLUSH_DISK_TIMEOUT' | 'FLUSH_SLAVE_TIMEOUT' | 'SLAVE_NOT_AVAILABLE';

export interface SendResult {
  readonly status: SendStatus;
  /** The id this client gave the message (UNIQ_KEY); of a batch: all ids, joined by commas. */
  readonly msgId: string;
  /** The id that says where it is stored; of a batch: all, joined by commas. */
  readonly offsetMsgId: string;
  readonly queue: MessageQueue;
  /** Offset in the queue; of a batch: that of its first message. */
  readonly queueOffset: number;
}

/** Chooses the queue of a message; gets the writable queues of its topic. */
export type QueueSelector = (queues: readonly MessageQueue[]) => MessageQueue;

export interface SenderOptions {
  readonly group: string;
  readonly retries: number;
  readonly defaultTopicQueues: number;
  /** Also try another broker when the status is not SEND_OK. */
  readonly retryWhenNotStoredSafely: boolean;
}

const STATUS_BY_CODE: Readonly<Record<number, SendStatus>> = {
  [ResponseCode.SUCCESS]: 'SEND_OK',
  [ResponseCode.FLUSH_DISK_TIMEOUT]: 'FLUSH_DISK_TIMEOUT',
  [ResponseCode.FLUSH_SLAVE_TIMEOUT]: 'FLUSH_SLAVE_TIMEOUT',
  [ResponseCode.SLAVE_NOT_AVAILABLE]: 'SLAVE_NOT_AVAILABLE',
};

/** Refusals after which another broker may do better; 4.9: DefaultMQProducer.retryResponseCodes. */
const RETRIED_CODES: readonly number[] = [
  ResponseCode.TOPIC_NOT_EXIST,
  ResponseCode.SERVICE_NOT_AVAILABLE,
  ResponseCode.SYSTEM_ERROR,
  ResponseCode.NO_PERMISSION,
  ResponseCode.NO_BUYER_ID,
  ResponseCode.NOT_IN_CURRENT_UNIT,
];

/** Sends prepared messages: chooses queue and broker, tries again elsewhere. 4.9: DefaultMQProducerImpl#sendDefaultImpl. */
export class Sender {
  readonly #core: ClientCore;
  readonly #options: SenderOptions;
  readonly #table: PublishTable;

  constructor(core: ClientCore, options: SenderOptions) {
    this.#core = core;
    this.#options = options;
    this.#table = new PublishTable(core.routes, core.clock, options.defaultTopicQueues);
  }

  /** To the next queue in turn; `timeoutMs` is for all attempts together. */
  async send(message: PreparedMessage, timeoutMs: number): Promise<SendResult> {
    const beganMs = this.#core.clock.monoMs();
    const tried: string[] = [];
    let problem: unknown;
    let result: SendResult | undefined;
    for (let attempt = 0; attempt <= this.#options.retries; attempt++) {
      const published = await this.#table.find(message.topic);
      const restMs = timeoutMs - (this.#core.clock.monoMs() - beganMs);
      if (restMs <= 0) break;
      const queue = nextQueue(published, tried.at(-1));
      tried.push(queue.brokerName);
      try {
        result = await this.sendTo(message, queue, restMs);
        if (result.status === 'SEND_OK' || !this.#options.retryWhenNotStoredSafely) return result;
      } catch (error) {
        problem = error;
        if (!this.#mayRetry(error)) {
          if (result !== undefined) return result;
          throw error;
        }
        this.#core.logger.warn({ topic: message.topic, queue, problem: messageOf(error) }, 'send failed, trying again');
        this.#refreshRoute(message.topic);
      }
    }
    if (result !== undefined) return result;
    throw this.#failed(message.topic, tried, this.#core.clock.monoMs() - beganMs, problem);
  }

  /** To one queue, once. */
  async sendTo(message: PreparedMessage, queue: MessageQueue, timeoutMs: number): Promise<SendResult> {
    const { address } = await this.#core.routes.findBroker(message.topic, queue.brokerName);
    const answer = await this.#core.transport.invoke(address, this.#call(message, queue), timeoutMs);
    return resultOf(message, queue, answer, address);
  }

  /** Hands it to the socket and asks for no answer. */
  async sendOneway(message: PreparedMessage, queue?: MessageQueue): Promise<void> {
    const to = queue ?? nextQueue(await this.#table.find(message.topic), undefined);
    const { address } = await this.#core.routes.findBroker(message.topic, to.brokerName);
    await this.#core.transport.oneway(address, this.#call(message, to));
  }

  /** The writable queues of a topic. */
  async queues(topic: string): Promise<readonly MessageQueue[]> {
    return (await this.#table.find(topic)).queues;
  }

  #call(message: PreparedMessage, queue: MessageQueue): Call {
    const ext: ExtFields = encodeSendMessageV2({
      producerGroup: this.#options.group,
      topic: message.topic,
      defaultTopic: AUTO_CREATE_TOPIC,
      defaultTopicQueueNums: this.#options.defaultTopicQueues,
      queueId: queue.queueId,
      sysFlag: message.sysFlag,
      bornTimestamp: this.#core.clock.wallMs(),
      flag: message.flag,
      properties: message.properties,
      reconsumeTimes: message.reconsumeTimes ?? 0,
      unitMode: false,
      maxReconsumeTimes: message.maxReconsumeTimes,
      batch: message.batch,
      bname: queue.brokerName,
    });
    const code = message.batch ? RequestCode.SEND_BATCH_MESSAGE : RequestCode.SEND_MESSAGE_V2;
    return { code, ext, body: message.body };
  }

  #mayRetry(error: unknown): boolean {
    if (isTransportFailure(error)) return true;
    if (!(error instanceof ClientError)) return false;
    if (error.code === 'NO_BROKER') return true;
    return error.code === 'REFUSED' && RETRIED_CODES.includes(error.responseCode ?? -1);
  }

  /** In the background: the next attempt need not wait for it. */
  #refreshRoute(topic: string): void {
    this.#core.routes.refresh(topic).catch((error: unknown) => {
      this.#core.logger.warn({ topic, problem: messageOf(error) }, 'route not refreshed');
    });
  }

  #failed(topic: string, tried: readonly string[], tookMs: number, problem: unknown): ClientError {
    const attempts = `${tried.length} attempt${tried.length === 1 ? '' : 's'}`;
    const brokers = [...new Set(tried)].join(', ') || 'none';
    const text = `send to topic ${topic} failed after ${attempts} in ${Math.round(tookMs)} ms (brokers: ${brokers})`;
    if (problem instanceof ClientError) {
      const { responseCode, remedy } = problem;
      return new ClientError(problem.code, `${text}: ${problem.message}`, {
        cause: problem,
        ...(responseCode === undefined ? {} : { responseCode }),
        ...(remedy === undefined ? {} : { remedy }),
      });
    }
    return new ClientError('REQUEST_TIMEOUT', `${text}: the time was over before a broker was asked`, {
      cause: problem,
    });
  }
}

function resultOf(message: PreparedMessage, queue: MessageQueue, answer: Answer, address: string): SendResult {
  const status = STATUS_BY_CODE[answer.code];
  if (status === undefined) throw refused(address, RequestCode.SEND_MESSAGE_V2, answer);
  const header = decodeSendMessageResponse(answer.ext);
  return {
    status,
    msgId: message.msgId,
    offsetMsgId: header.msgId,
    queue: { topic: message.topic, brokerName: queue.brokerName, queueId: header.queueId },
    queueOffset: header.queueOffset,
  };
}
