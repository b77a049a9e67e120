import { inject, injectable } from '../../kernel/container.js';
import { encodeDelayOffsetTable } from '../../protocol/bodies/consumer-offset.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import {
  decodeGetEarliestMsgStoretime,
  encodeGetEarliestMsgStoretimeResponse,
} from '../../protocol/headers/get-earliest-msg-storetime.js';
import { decodeGetMaxOffset, encodeGetMaxOffsetResponse } from '../../protocol/headers/get-max-offset.js';
import { decodeGetMinOffset, encodeGetMinOffsetResponse } from '../../protocol/headers/get-min-offset.js';
import {
  decodeSearchOffsetByTimestamp,
  encodeSearchOffsetByTimestampResponse,
} from '../../protocol/headers/search-offset-by-timestamp.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Delays } from '../schedule/contract.js';

/** Where a queue begins and ends, what lies at a time or a place. Unknown queues answer 0 and leave no trace. */
@injectable()
export class OffsetQueries {
  constructor(
    @inject(Queues) private readonly queues: Queues,
    @inject(Delays) private readonly delays: Delays,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, (request) => this.#byTime(request));
    router.handle(RequestCode.GET_MAX_OFFSET, (request) => this.#max(request));
    router.handle(RequestCode.GET_MIN_OFFSET, (request) => this.#min(request));
    router.handle(RequestCode.GET_EARLIEST_MSG_STORETIME, (request) => this.#earliest(request));
    router.handle(RequestCode.GET_ALL_DELAY_OFFSET, () => this.#delayOffsets());
  }

  async #byTime({ ext }: Request): Promise<Reply> {
    const { topic, queueId, timestamp } = decodeSearchOffsetByTimestamp(ext);
    const offset = await this.queues.offsetByTime(topic, queueId, timestamp);
    return { code: ResponseCode.SUCCESS, ext: encodeSearchOffsetByTimestampResponse({ offset }) };
  }

  #max({ ext }: Request): Reply {
    const { topic, queueId } = decodeGetMaxOffset(ext);
    return {
      code: ResponseCode.SUCCESS,
      ext: encodeGetMaxOffsetResponse({ offset: this.queues.maxOffset(topic, queueId) }),
    };
  }

  #min({ ext }: Request): Reply {
    const { topic, queueId } = decodeGetMinOffset(ext);
    return {
      code: ResponseCode.SUCCESS,
      ext: encodeGetMinOffsetResponse({ offset: this.queues.minOffset(topic, queueId) }),
    };
  }

  /** Progress of each delay level, for slaves. */
  #delayOffsets(): Reply {
    return { code: ResponseCode.SUCCESS, body: encodeDelayOffsetTable(this.delays.offsets()) };
  }

  /** -1 for an empty or unknown queue. */
  async #earliest({ ext }: Request): Promise<Reply> {
    const { topic, queueId } = decodeGetEarliestMsgStoretime(ext);
    const timestamp = await this.queues.earliestMs(topic, queueId);
    return { code: ResponseCode.SUCCESS, ext: encodeGetEarliestMsgStoretimeResponse({ timestamp }) };
  }
}
