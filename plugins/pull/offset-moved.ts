import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { writeJson } from '../../protocol/bodies/json-write.js';
import { messageQueueBean } from '../../protocol/bodies/message-queue.js';
import type { PullMessageRequestHeader } from '../../protocol/headers/pull-message.js';
import { formatProperties } from '../../protocol/message/properties.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { MessageWriter, StoreHost } from '../commitlog/contract.js';
import type { Connection } from '../remoting/contract.js';
import type { Selection } from './selection.js';

/** Events on their way to the log; when more come they are only logged. */
const PENDING_MAX = 64;

/** A consumer asked for an offset that its queue does not have and was sent elsewhere (4.9: PullMessageProcessor#generateOffsetMovedEvent). */
@injectable()
export class OffsetMoved {
  #pending = 0;

  constructor(
    @inject(MessageWriter) private readonly writer: MessageWriter,
    @inject(StoreHost) private readonly host: StoreHost,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  /** Logs it and stores an event, which tools consume (`mqadmin startMonitoring`). */
  note(header: PullMessageRequestHeader, { status, nextOffset: moved }: Selection, connection: Connection): void {
    const { consumerGroup: group, topic, queueId, queueOffset: asked } = header;
    const about = { group, topic, queueId, asked, moved, status, client: connection.remote };
    this.logger.warn(about, 'pull offset moved');
    if (this.#pending >= PENDING_MAX) return;
    this.#pending++;
    void this.#store(group, { topic, brokerName: this.options.brokerName, queueId }, asked, moved);
  }

  async #store(
    consumerGroup: string,
    queue: { topic: string; brokerName: string; queueId: number },
    offsetRequest: number,
    offsetNew: number,
  ): Promise<void> {
    const { status, reason } = await this.writer.append({
      topic: SystemTopic.OFFSET_MOVED_EVENT,
      queueId: 0,
      flag: 0,
      sysFlag: 0,
      bornTimestamp: this.clock.wallMs(),
      bornAddress: this.host.address,
      bornPort: this.host.port,
      reconsumeTimes: 0,
      preparedTransactionOffset: 0,
      body: writeJson({ consumerGroup, messageQueue: messageQueueBean(queue), offsetNew, offsetRequest }),
      properties: formatProperties(
        new Map([
          ['KEYS', consumerGroup],
          ['TAGS', consumerGroup],
        ]),
      ),
      waitStore: false,
    });
    this.#pending--;
    if (status !== 'stored')
      this.logger.warn({ group: consumerGroup, status, reason }, 'offset-moved event could not be stored');
  }
}
