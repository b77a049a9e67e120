import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import {
  decodeQueryConsumerOffset,
  encodeQueryConsumerOffsetResponse,
} from '../../protocol/headers/query-consumer-offset.js';
import { decodeUpdateConsumerOffset } from '../../protocol/headers/update-consumer-offset.js';
import { LogReader } from '../commitlog/contract.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { OffsetTable } from './offset-table.js';

/** 4.9 answers with an empty header class, which shows as an empty map. */
const success: Reply = { code: ResponseCode.SUCCESS, ext: {} };

/** Progress of consumers (4.9: ConsumerManageProcessor, and code 43 of AdminBrokerProcessor). */
@injectable()
export class OffsetHandlers {
  readonly #table: OffsetTable;
  readonly #queues: Queues;
  readonly #log: LogReader;
  readonly #inMemoryBytes: number;

  constructor(
    @inject(OffsetTable) table: OffsetTable,
    @inject(Queues) queues: Queues,
    @inject(LogReader) log: LogReader,
    @inject(Options) options: Options,
  ) {
    this.#table = table;
    this.#queues = queues;
    this.#log = log;
    this.#inMemoryBytes = (options.totalMemoryBytes * options.accessMessageInMemoryMaxRatio) / 100;
  }

  register(router: RequestRouter): void {
    router.handle(RequestCode.QUERY_CONSUMER_OFFSET, (request) => this.#query(request));
    router.handle(RequestCode.UPDATE_CONSUMER_OFFSET, (request, connection) => this.#update(request, connection));
    router.handle(RequestCode.GET_ALL_CONSUMER_OFFSET, () => this.#all());
  }

  /**
   * 4.9: queryConsumerOffset. A group without an offset begins at 0 while the queue still begins there and its first message is
   * near the tail; else it is told that it is new (22) and begins where its own setting says.
   */
  #query(request: Request): Reply {
    const { consumerGroup, topic, queueId } = decodeQueryConsumerOffset(request.ext);
    let offset = this.#table.query(consumerGroup, topic, queueId);
    if (offset < 0) {
      if (this.#queues.minOffset(topic, queueId) > 0 || this.#firstIsOnDisk(topic, queueId)) {
        const remark = 'Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first';
        return { code: ResponseCode.QUERY_NOT_FOUND, remark };
      }
      offset = 0;
    }
    return { code: ResponseCode.SUCCESS, ext: encodeQueryConsumerOffsetResponse({ offset }) };
  }

  /** 4.9: DefaultMessageStore#checkInDiskByConsumeOffset for offset 0. */
  #firstIsOnDisk(topic: string, queueId: number): boolean {
    const first = this.#queues.entry(topic, queueId, 0);
    return first !== undefined && this.#log.maxOffset - first.physicalOffset > this.#inMemoryBytes;
  }

  #update(request: Request, connection: Connection): Reply {
    const { consumerGroup, topic, queueId, commitOffset } = decodeUpdateConsumerOffset(request.ext);
    const problem = this.#table.tryCommit(connection.remote, consumerGroup, topic, queueId, commitOffset);
    return problem === undefined ? success : { code: ResponseCode.SYSTEM_ERROR, remark: problem };
  }

  async #all(): Promise<Reply> {
    return { code: ResponseCode.SUCCESS, body: await this.#table.encoded() };
  }
}
