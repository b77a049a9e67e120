import { inject, injectable } from '../../kernel/container.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { Logger } from '../../kernel/tokens.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import { StoreState } from '../commitlog/contract.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Topics } from '../topics/contract.js';
import { LogCleaner } from './log-cleaner.js';

const success: Reply = { code: ResponseCode.SUCCESS };

/** Deletions that operators ask for (4.9: AdminBrokerProcessor); system topics are never touched. */
@injectable()
export class CleanHandlers {
  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(Queues) private readonly queues: Queues,
    @inject(Topics) private readonly topics: Topics,
    @inject(LogCleaner) private readonly cleaner: LogCleaner,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.DELETE_EXPIRED_COMMITLOG, (_, connection) => this.#deleteExpired(connection));
    router.handle(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE, (_, connection) => this.#cleanExpired(connection));
    router.handle(RequestCode.CLEAN_UNUSED_TOPIC, (_, connection) => this.#cleanUnused(connection));
  }

  #deleteExpired({ remote }: Connection): Reply {
    this.logger.info({ client: remote }, 'deletion of old commit log files asked for');
    this.cleaner.askFor();
    return success;
  }

  /** 4.9: DefaultMessageStore#cleanExpiredConsumerQueue, which lets offsets count from 0 again at once. */
  async #cleanExpired({ remote }: Connection): Promise<Reply> {
    let count = 0;
    for (const [topic, queueId] of this.#queuesWith((row) => this.#isExpired(row)))
      if (await this.queues.dropExpired(topic, queueId)) count++;
    this.logger.info({ client: remote, queues: count }, 'files of queues without messages removed');
    return success;
  }

  /** 4.9: DefaultMessageStore#cleanUnusedTopic. */
  async #cleanUnused({ remote }: Connection): Promise<Reply> {
    const queues = this.#queuesWith((row) => this.state.queueTable.get(row, QueueWord.next) > 0);
    const topics = new Set(queues.map(([topic]) => topic).filter((topic) => this.topics.get(topic) === undefined));
    // By way of the topic table, so that none of them is made again meanwhile.
    for (const topic of topics) await this.topics.delete(topic, () => this.queues.deleteTopic(topic));
    this.logger.info({ client: remote, topics: [...topics] }, 'queues of topics that do not exist removed');
    return success;
  }

  #queuesWith(holds: (row: number) => boolean): [topic: string, queueId: number][] {
    const { queueTable } = this.state;
    return queueTable
      .topics()
      .filter((topic) => !this.topics.isSystemTopic(topic))
      .flatMap((topic) => queueTable.idsOf(topic).map((queueId): [string, number] => [topic, queueId]))
      .filter(([topic, queueId]) => holds(queueTable.find(topic, queueId)));
  }

  #isExpired(row: number): boolean {
    const { queueTable } = this.state;
    const end = queueTable.get(row, QueueWord.dispatched);
    return end > 0 && queueTable.get(row, QueueWord.minimum) === end;
  }
}
