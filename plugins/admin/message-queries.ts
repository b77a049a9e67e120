import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeQueryMessage, encodeQueryMessageResponse } from '../../protocol/headers/query-message.js';
import { decodeViewMessageById } from '../../protocol/headers/view-message-by-id.js';
import { LogReader } from '../commitlog/contract.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';
import { MessageIndex } from '../reput/contract.js';

/** Single messages by key, unique key or place (4.9: QueryMessageProcessor). */
@injectable()
export class MessageQueries {
  constructor(
    @inject(MessageIndex) private readonly index: MessageIndex,
    @inject(LogReader) private readonly log: LogReader,
    @inject(Options) private readonly options: Options,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.QUERY_MESSAGE, (request) => this.#query(request));
    router.handle(RequestCode.VIEW_MESSAGE_BY_ID, (request) => this.#view(request));
  }

  async #query({ ext }: Request): Promise<Reply> {
    const asked = decodeQueryMessage(ext);
    const { topic, key, beginTimestamp: beginMs, endTimestamp: endMs } = asked;
    const wanted = asked._UNIQUE_KEY_QUERY === true ? this.options.defaultQueryMaxNum : asked.maxNum;
    const maxNum = Math.min(wanted, this.options.maxMsgsNumBatch);
    const found = await this.index.query({ topic, key, maxNum, beginMs, endMs });
    if (found.records.length === 0)
      return {
        code: ResponseCode.QUERY_NOT_FOUND,
        remark: 'can not find message, maybe time range not correct',
        ext: encodeQueryMessageResponse({ indexLastUpdateTimestamp: 0, indexLastUpdatePhyoffset: 0 }),
      };
    const { lastTimestamp: indexLastUpdateTimestamp, lastPhysical: indexLastUpdatePhyoffset } = found;
    return {
      code: ResponseCode.SUCCESS,
      ext: encodeQueryMessageResponse({ indexLastUpdateTimestamp, indexLastUpdatePhyoffset }),
      body: Buffer.from(found.records.buffer, found.records.byteOffset, found.records.byteLength),
    };
  }

  async #view({ ext }: Request): Promise<Reply> {
    const { offset } = decodeViewMessageById(ext);
    const record = await this.log.record(offset);
    return record === undefined
      ? { code: ResponseCode.SYSTEM_ERROR, remark: `can not find message by the offset, ${offset}` }
      : { code: ResponseCode.SUCCESS, body: record };
  }
}
