import { AdminClient, ClientError, ResponseCode } from '../../client/index.js';
import { inParallel } from './in-parallel.js';
import type { BrokerTarget, TopicQueue } from './load.js';

const ASKED_AT_ONCE = 32;

/** Where the queues of a load end, as their brokers say. */
export class QueueEnds {
  readonly #admin: AdminClient;
  readonly #questions: readonly { readonly broker: string; readonly topic: string }[];

  /** `namesrvAddr` is not asked: the brokers are known. */
  constructor(namesrvAddr: string, targets: readonly BrokerTarget[]) {
    this.#admin = new AdminClient({ namesrvAddr });
    this.#questions = targets.flatMap((target) =>
      [...new Set(target.queues.map(({ topic }) => topic))].map((topic) => ({ broker: addressOf(target), topic })),
    );
  }

  /** The next offset of a queue, by `endKey`. */
  async all(): Promise<Map<string, number>> {
    const ends = new Map<string, number>();
    await inParallel(this.#questions.length, ASKED_AT_ONCE, async (index) => {
      const { broker, topic } = this.#questions[index]!;
      for (const [{ queueId }, { maxOffset }] of await this.#stats(topic, broker))
        ends.set(endKey(broker, { topic, queueId }), maxOffset);
    });
    return ends;
  }

  close(): Promise<void> {
    return this.#admin.close();
  }

  async #stats(topic: string, broker: string): ReturnType<AdminClient['topicStats']> {
    try {
      return await this.#admin.topicStats(topic, broker);
    } catch (error) {
      // The first send will create it.
      if (error instanceof ClientError && error.responseCode === ResponseCode.TOPIC_NOT_EXIST) return [];
      throw error;
    }
  }
}

export const addressOf = ({ host, port }: BrokerTarget): string =>
  (host.includes(':') ? `[${host}]` : host) + `:${port}`;
export const endKey = (broker: string, { topic, queueId }: TopicQueue): string => `${broker} ${topic} ${queueId}`;
