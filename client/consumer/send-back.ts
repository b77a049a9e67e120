import { messageOf } from '../../kernel/base/errors.js';
import { RequestCode } from '../../protocol/codes.js';
import { encodeConsumerSendMsgBack } from '../../protocol/headers/consumer-send-msg-back.js';
import { isRetryTopic, retryTopicOf } from '../../protocol/message/names.js';
import { formatProperties, PropertyName } from '../../protocol/message/properties.js';
import { compressed } from '../producer/prepare.js';
import type { Sender } from '../producer/sender.js';
import type { ClientCore } from '../transport/client-core.js';
import type { Held } from './process-queue.js';

/** 4.9: DefaultMQPushConsumerImpl#sendMessageBack. */
const TIMEOUT_MS = 5000;
/** The level of the first retry; each further one waits a level longer. */
const FIRST_DELAY_LEVEL = 3;
const COMPRESS_OVER_BYTES = 4096;

/** Returns messages that could not be consumed to the broker, which delivers them again later. */
export class SendBack {
  readonly #core: ClientCore;
  readonly #group: string;
  readonly #sender: Sender;
  readonly #maxReconsumeTimes: number;

  constructor(core: ClientCore, group: string, sender: Sender, maxReconsumeTimes: number) {
    this.#core = core;
    this.#group = group;
    this.#sender = sender;
    this.#maxReconsumeTimes = maxReconsumeTimes;
  }

  /**
   * `delayLevel` 0 lets the broker choose by the number of retries, below 0 goes to the dead letters at once. When the
   * broker does not take it back a copy is sent to the retry topic. Rejects when that fails too: the message is then only
   * here.
   */
  async send(held: Held, delayLevel: number): Promise<void> {
    try {
      await this.#toBroker(held, delayLevel);
    } catch (error) {
      const { topic, msgId, queueOffset } = held.message;
      this.#core.logger.warn(
        { group: this.#group, topic, msgId, queueOffset, problem: messageOf(error) },
        'message not taken back, sending a copy to the retry topic',
      );
      await this.#copy(held, held.reconsumeTimes + 1);
    }
  }

  /**
   * An ordered message that failed as often as it may: a copy to the retry topic that says so, which the broker puts to the dead
   * letters. 4.9: ConsumeMessageOrderlyService#sendMessageBack.
   */
  giveUp(held: Held): Promise<void> {
    return this.#copy(held, held.reconsumeTimes);
  }

  async #toBroker(held: Held, delayLevel: number): Promise<void> {
    const { message } = held;
    const { address } = await this.#core.routes.findBroker(message.topic, message.brokerName);
    const ext = encodeConsumerSendMsgBack({
      offset: message.commitLogOffset,
      group: this.#group,
      delayLevel,
      originMsgId: message.msgId,
      originTopic: message.topic,
      unitMode: false,
      maxReconsumeTimes: this.#maxReconsumeTimes,
      bname: message.brokerName,
    });
    await this.#core.transport.request(address, { code: RequestCode.CONSUMER_SEND_MSG_BACK, ext }, TIMEOUT_MS);
  }

  async #copy(held: Held, reconsumeTimes: number): Promise<void> {
    const { message } = held;
    const properties = new Map(message.properties);
    if ((properties.get(PropertyName.ORIGIN_MESSAGE_ID) ?? '') === '')
      properties.set(PropertyName.ORIGIN_MESSAGE_ID, message.msgId);
    if (!isRetryTopic(message.topic)) properties.set(PropertyName.RETRY_TOPIC, message.topic);
    properties.delete(PropertyName.TRANSACTION_PREPARED);
    properties.set(PropertyName.DELAY_TIME_LEVEL, String(FIRST_DELAY_LEVEL + held.reconsumeTimes));
    // 4.9 says them twice, as properties and in the header.
    properties.set(PropertyName.RECONSUME_TIME, String(reconsumeTimes));
    properties.set(PropertyName.MAX_RECONSUME_TIMES, String(this.#maxReconsumeTimes));
    const { body, sysFlag } =
      held.bodyProblem === undefined
        ? await compressed(message.body, COMPRESS_OVER_BYTES)
        : { body: message.body, sysFlag: message.sysFlag };
    await this.#sender.send(
      {
        topic: retryTopicOf(this.#group),
        body,
        properties: formatProperties(properties),
        sysFlag,
        flag: message.flag,
        msgId: message.msgId,
        batch: false,
        reconsumeTimes,
        maxReconsumeTimes: this.#maxReconsumeTimes,
      },
      TIMEOUT_MS,
    );
  }
}
