import type { Clock } from '../../kernel/base/clock.js';
import { ClientError } from '../errors.js';
import { writableQueues, type MessageQueue } from '../transport/message-queue.js';
import type { Routes } from '../transport/routes.js';

/** 4.9: TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC: its route tells which brokers create topics on a first send. */
export const AUTO_CREATE_TOPIC = 'TBW102';
/** A topic that nobody created yet is looked at again after this time. */
const TEMPLATE_MS = 30_000;

/** The queues of one topic that may be written, and whose turn it is. */
export interface PublishQueues {
  readonly queues: readonly MessageQueue[];
  readonly next: { turn: number };
}

interface Entry extends PublishQueues {
  readonly validUntilMs: number;
}

/** Writable queues by topic, from the route of the topic or, before it exists, from that of TBW102. */
export class PublishTable {
  readonly #routes: Routes;
  readonly #clock: Clock;
  readonly #defaultTopicQueues: number;
  readonly #entries = new Map<string, Entry>();

  constructor(routes: Routes, clock: Clock, defaultTopicQueues: number) {
    this.#routes = routes;
    this.#clock = clock;
    this.#defaultTopicQueues = defaultTopicQueues;
    routes.onChange((topic) => this.#entries.delete(topic));
  }

  /** Rejects with NO_ROUTE when no broker takes messages of the topic. 4.9: tryToFindTopicPublishInfo. */
  async find(topic: string): Promise<PublishQueues> {
    const known = this.#entries.get(topic);
    if (known !== undefined && this.#clock.monoMs() < known.validUntilMs) return known;
    const route = await this.#routes.find(topic);
    // What sends nothing new must not make the turns of the queues begin anew.
    const next = known?.next ?? { turn: Math.floor(Math.random() * 65_536) };
    const entry: Entry =
      route !== undefined
        ? { queues: writableQueues(topic, route), next, validUntilMs: Infinity }
        : { queues: await this.#templateQueues(topic), next, validUntilMs: this.#clock.monoMs() + TEMPLATE_MS };
    if (entry.queues.length === 0) throw this.#noQueue(topic, route !== undefined);
    this.#entries.set(topic, entry);
    return entry;
  }

  async #templateQueues(topic: string): Promise<MessageQueue[]> {
    const template = await this.#routes.peek(AUTO_CREATE_TOPIC);
    if (template === undefined) return [];
    const queueDatas = template.queueDatas.map((data) => ({
      ...data,
      writeQueueNums: Math.min(this.#defaultTopicQueues, data.readQueueNums),
    }));
    return writableQueues(topic, { ...template, queueDatas });
  }

  #noQueue(topic: string, exists: boolean): ClientError {
    return exists
      ? new ClientError('NO_ROUTE', `topic ${topic} has no queue that may be written on a broker that is up`, {
          remedy: "check the topic's permission and that its master brokers run",
        })
      : new ClientError('NO_ROUTE', `topic ${topic} does not exist, and no broker creates topics on a first send`, {
          remedy: 'create the topic, or set autoCreateTopicEnable=true on a broker',
        });
  }
}

/**
 * The next queue in turn, on another broker than the one that just failed where there is one.
 * 4.9: TopicPublishInfo#selectOneMessageQueue.
 */
export function nextQueue(published: PublishQueues, failedBroker: string | undefined): MessageQueue {
  const { queues, next } = published;
  for (let tried = 0; failedBroker !== undefined && tried < queues.length; tried++) {
    const queue = take(queues, next);
    if (queue.brokerName !== failedBroker) return queue;
  }
  return take(queues, next);
}

function take(queues: readonly MessageQueue[], next: { turn: number }): MessageQueue {
  next.turn = (next.turn + 1) & 0x3fffffff;
  return queues[next.turn % queues.length]!;
}
