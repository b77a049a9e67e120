import { messageOf } from '../../kernel/base/errors.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import {
  encodeQueryConsumerOffset,
  decodeQueryConsumerOffsetResponse,
} from '../../protocol/headers/query-consumer-offset.js';
import { encodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import type { Call } from '../transport/channel.js';
import type { ClientCore } from '../transport/client-core.js';
import { queueKey, type MessageQueue } from '../transport/message-queue.js';
import { OffsetTable, type OffsetStore } from './offset-store.js';

/** 4.9: RemoteBrokerOffsetStore asks and tells with this limit. */
const TIMEOUT_MS = 5000;

/** Offsets of a clustering group: the brokers keep them. */
export class BrokerOffsetStore implements OffsetStore {
  readonly #core: ClientCore;
  readonly #group: string;
  readonly #table = new OffsetTable(queueKey);

  constructor(core: ClientCore, group: string) {
    this.#core = core;
    this.#group = group;
  }

  /**
   * QUERY_NOT_FOUND alone says that the group never consumed the queue. Any other answer, or none, says nothing: taking
   * it as "never" would skip the backlog or repeat it all (4.9.7 does so for every error code).
   */
  async read(queue: MessageQueue): Promise<number | undefined> {
    const { address } = await this.#broker(queue);
    const call = {
      code: RequestCode.QUERY_CONSUMER_OFFSET,
      ext: encodeQueryConsumerOffset({ consumerGroup: this.#group, ...place(queue) }),
    };
    const wanted = [ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND];
    const answer = await this.#core.transport.request(address, call, TIMEOUT_MS, wanted);
    if (answer.code === ResponseCode.QUERY_NOT_FOUND) return undefined;
    const { offset } = decodeQueryConsumerOffsetResponse(answer.ext);
    this.#table.set(queue, offset, false);
    return offset;
  }

  current(queue: MessageQueue): number | undefined {
    return this.#table.get(queue);
  }

  update(queue: MessageQueue, offset: number, increaseOnly: boolean): void {
    this.#table.set(queue, offset, increaseOnly);
  }

  async commit(queue: MessageQueue): Promise<void> {
    const offset = this.#table.get(queue);
    if (offset === undefined) return;
    const { address } = await this.#broker(queue);
    await this.#core.transport.request(address, this.#updateCall(queue, offset), TIMEOUT_MS);
  }

  async persist(queues: readonly MessageQueue[]): Promise<void> {
    for (const queue of queues) {
      const offset = this.#table.get(queue);
      if (offset === undefined) continue;
      try {
        const { address } = await this.#broker(queue);
        await this.#core.transport.oneway(address, this.#updateCall(queue, offset));
      } catch (error) {
        this.#core.logger.warn({ queue, offset, problem: messageOf(error) }, 'offset not committed');
      }
    }
  }

  forget(queue: MessageQueue): void {
    this.#table.delete(queue);
  }

  #broker(queue: MessageQueue): Promise<{ address: string }> {
    return this.#core.routes.findBroker(queue.topic, queue.brokerName);
  }

  #updateCall(queue: MessageQueue, offset: number): Call {
    return {
      code: RequestCode.UPDATE_CONSUMER_OFFSET,
      ext: encodeUpdateConsumerOffset({ consumerGroup: this.#group, commitOffset: offset, ...place(queue) }),
    };
  }
}

function place(queue: MessageQueue): { topic: string; queueId: number; bname: string } {
  return { topic: queue.topic, queueId: queue.queueId, bname: queue.brokerName };
}
