import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger } from '../../kernel/tokens.js';
import { encodeConsumeTimeSpans, type QueueTimeSpan } from '../../protocol/bodies/consume-time-span.js';
import { encodeCorrectionOffsets } from '../../protocol/bodies/reset-offset.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeCloneGroupOffset } from '../../protocol/headers/clone-group-offset.js';
import { decodeQueryConsumeTimeSpan } from '../../protocol/headers/query-consume-time-span.js';
import { decodeQueryCorrectionOffset } from '../../protocol/headers/query-correction-offset.js';
import { Offsets } from '../offsets/contract.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Topics } from '../topics/contract.js';
import { Progress } from './progress.js';

/** What is asked of, and done with, the committed offsets of groups (4.9: AdminBrokerProcessor). */
@injectable()
export class GroupOffsets {
  constructor(
    @inject(Topics) private readonly topics: Topics,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Queues) private readonly queues: Queues,
    @inject(Progress) private readonly progress: Progress,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.QUERY_CONSUME_TIME_SPAN, (request) => this.#timeSpans(request));
    router.handle(RequestCode.QUERY_CORRECTION_OFFSET, (request) => this.#corrections(request));
    router.handle(RequestCode.CLONE_GROUP_OFFSET, (request, connection) => this.#clone(request, connection));
  }

  async #timeSpans({ ext }: Request): Promise<Reply> {
    const { topic, group } = decodeQueryConsumeTimeSpan(ext);
    const config = this.topics.get(topic);
    if (config === undefined) return { code: ResponseCode.TOPIC_NOT_EXIST, remark: `topic[${topic}] not exist` };
    const spans: QueueTimeSpan[] = [];
    for (let queueId = 0; queueId < config.writeQueueNums; queueId++)
      spans.push(await this.#timeSpan(group, topic, queueId));
    return { code: ResponseCode.SUCCESS, body: encodeConsumeTimeSpans(spans) };
  }

  /** Times of an empty queue are -1. A group that never committed is behind as far as the oldest message there is. */
  async #timeSpan(group: string, topic: string, queueId: number): Promise<QueueTimeSpan> {
    const minTimeStamp = await this.queues.earliestMs(topic, queueId);
    const end = this.queues.maxOffset(topic, queueId);
    const maxTimeStamp = await this.progress.storedAt(topic, queueId, end - 1);
    const committed = this.offsets.query(group, topic, queueId);
    const consumed = committed > 0 ? await this.progress.storedAt(topic, queueId, committed - 1) : minTimeStamp;
    const next = Math.max(committed, this.queues.minOffset(topic, queueId));
    const nextMs = next < end ? await this.progress.storedAt(topic, queueId, next) : -1;
    return {
      messageQueue: this.progress.queue(topic, queueId),
      minTimeStamp,
      maxTimeStamp,
      consumeTimeStamp: consumed,
      delayTime: nextMs < 0 ? 0 : this.clock.wallMs() - nextMs,
    };
  }

  /**
   * 4.9: ConsumerOffsetManager#queryMinOffsetInAllGroup: of each queue the smallest offset of all groups but the filtered ones. 4.9.7
   * removes the offsets of the filtered groups for good while it looks. The group to compare with changes nothing, as there, where
   * topic and group are confused.
   */
  #corrections({ ext }: Request): Reply {
    const { topic, filterGroups = '' } = decodeQueryCorrectionOffset(ext);
    const filtered = new Set(filterGroups.split(','));
    const smallest = new Map<number, number>();
    for (const group of this.offsets.groupsOf(topic)) {
      if (filtered.has(group)) continue;
      for (const [queueId, offset] of this.offsets.ofTopic(group, topic) ?? [])
        if (offset >= this.queues.minOffset(topic, queueId))
          smallest.set(queueId, Math.min(offset, smallest.get(queueId) ?? offset));
    }
    return { code: ResponseCode.SUCCESS, body: encodeCorrectionOffsets(smallest) };
  }

  /** Without a topic all are cloned; 4.9.7 then clones none and says nothing. */
  #clone({ ext }: Request, connection: Connection): Reply {
    const { srcGroup, destGroup, topic, offline } = decodeCloneGroupOffset(ext);
    const topics = topic === undefined || topic.trim() === '' ? this.offsets.topicsOf(srcGroup) : [topic];
    const cloned: string[] = [];
    for (const each of topics) {
      const known = this.topics.get(each) !== undefined && (offline || this.progress.subscribes(srcGroup, each));
      if (!known) continue;
      for (const [queueId, offset] of this.offsets.ofTopic(srcGroup, each) ?? []) {
        const refused = this.offsets.tryCommit(connection.remote, destGroup, each, queueId, offset);
        if (refused !== undefined) return { code: ResponseCode.SYSTEM_ERROR, remark: refused };
      }
      cloned.push(each);
    }
    this.logger.info({ from: srcGroup, to: destGroup, cloned, client: connection.remote }, 'offsets of a group cloned');
    return { code: ResponseCode.SUCCESS };
  }
}
