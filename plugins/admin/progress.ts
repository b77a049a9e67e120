import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import type { OffsetWrapper } from '../../protocol/bodies/consume-stats.js';
import type { MessageQueue } from '../../protocol/bodies/message-queue.js';
import { LogReader } from '../commitlog/contract.js';
import { Consumers } from '../groups/contract.js';
import { Offsets } from '../offsets/contract.js';
import { Queues } from '../reput/contract.js';

/** How far a group has come in a queue, and when messages were stored. */
@injectable()
export class Progress {
  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Queues) private readonly queues: Queues,
    @inject(LogReader) private readonly log: LogReader,
  ) {}

  queue(topic: string, queueId: number): MessageQueue {
    return { topic, brokerName: this.options.brokerName, queueId };
  }

  /** While members are there, only what they subscribe to counts. */
  subscribes(group: string, topic: string): boolean {
    const subscriptions = this.consumers.group(group)?.subscriptions;
    return subscriptions === undefined || subscriptions.size === 0 || subscriptions.has(topic);
  }

  async of(group: string, topic: string, queueId: number): Promise<OffsetWrapper> {
    const brokerOffset = this.queues.maxOffset(topic, queueId);
    const consumerOffset = Math.max(0, this.offsets.query(group, topic, queueId));
    const storedAt = consumerOffset > 0 ? await this.storedAt(topic, queueId, consumerOffset - 1) : 0;
    return { brokerOffset, consumerOffset, lastTimestamp: Math.max(0, storedAt) };
  }

  /** Store time in ms of the message at an offset; -1 when there is none. */
  async storedAt(topic: string, queueId: number, offset: number): Promise<number> {
    const entry = this.queues.entry(topic, queueId, offset);
    return entry === undefined ? -1 : await this.log.storeTimestamp(entry.physicalOffset);
  }
}
