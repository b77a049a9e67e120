import { inject, injectable } from '../../kernel/container.js';
import {
  encodeQueryConsumeQueueResponseBody,
  type ConsumeQueueData,
  type QueryConsumeQueueResponseBody,
} from '../../protocol/bodies/consume-queue.js';
import type { SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { jsonText } from '../../protocol/bodies/json-write.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeQueryConsumeQueue } from '../../protocol/headers/query-consume-queue.js';
import { unitExtOffset, type ExtUnit } from '../../store/consumequeue/ext-unit.js';
import { UNIT_BYTES, unitPhysicalOffset, unitSize, unitTagsCode } from '../../store/consumequeue/unit.js';
import { FilterRegistry, type CompiledFilter } from '../filter/contract.js';
import { Consumers } from '../groups/contract.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Topics } from '../topics/contract.js';

/** Entries of one answer at most; some 200 bytes each. */
const ENTRIES_MAX = 4096;

/** QUERY_CONSUME_QUEUE (321): entries of a ConsumeQueue as they are stored (4.9: AdminBrokerProcessor#queryConsumeQueue). */
@injectable()
export class QueueView {
  constructor(
    @inject(Topics) private readonly topics: Topics,
    @inject(Queues) private readonly queues: Queues,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(FilterRegistry) private readonly filters: FilterRegistry,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.QUERY_CONSUME_QUEUE, (request) => this.#view(request));
  }

  #view({ ext }: Request): Reply {
    const { topic = '', queueId, index, count, consumerGroup } = decodeQueryConsumeQueue(ext);
    if (!this.#exists(topic, queueId))
      return { code: ResponseCode.SYSTEM_ERROR, remark: `${queueId}@${topic} is not exist!` };
    const subscription = consumerGroup === undefined ? undefined : this.consumers.subscription(consumerGroup, topic);
    const units = this.queues.entries(topic, queueId, index, Math.max(0, Math.min(count, ENTRIES_MAX)));
    const filter = subscription && this.#compiled(subscription);
    const queueData: ConsumeQueueData[] = [];
    for (let at = 0; at < units.length; at += UNIT_BYTES)
      queueData.push(this.#entry(topic, queueId, units, at, filter));
    const body: QueryConsumeQueueResponseBody = {
      maxQueueIndex: this.queues.maxOffset(topic, queueId),
      minQueueIndex: this.queues.minOffset(topic, queueId),
      subscriptionData: subscription,
      filterData: filterDataOf(consumerGroup, topic, subscription),
      queueData,
    };
    const remark = units.length === 0 ? `Index ${index} of ${queueId}@${topic} is not exist!` : null;
    return { code: ResponseCode.SUCCESS, remark, body: encodeQueryConsumeQueueResponseBody(body) };
  }

  /** 4.9 makes the queue while it looks for it. */
  #exists(topic: string, queueId: number): boolean {
    if (this.queues.has(topic, queueId)) return true;
    const config = this.topics.get(topic);
    return config !== undefined && queueId >= 0 && queueId < Math.max(config.readQueueNums, config.writeQueueNums);
  }

  #compiled({ expressionType, subString }: SubscriptionData): CompiledFilter | undefined {
    return this.filters.get(expressionType) && this.filters.compile(expressionType, subString);
  }

  /** As 4.9: only entries that have an ext unit are asked whether they pass the filter. */
  #entry(
    topic: string,
    queueId: number,
    units: Buffer,
    at: number,
    filter: CompiledFilter | undefined,
  ): ConsumeQueueData {
    const tagsCode = unitTagsCode(units, at);
    const entry = { physicOffset: unitPhysicalOffset(units, at), physicSize: unitSize(units, at), tagsCode };
    const extOffset = unitExtOffset(units, at);
    if (extOffset < 0) return { ...entry, eval: false };
    const place = this.queues.extUnits(topic, queueId)(extOffset);
    if (place === undefined) return { ...entry, eval: false, msg: `Cq extend not exist!addr: ${tagsCode}` };
    const passes = filter !== undefined && (filter.matchesTagsCode?.(place.tagsLow, place) ?? true);
    const { unit } = place;
    const bitMap = unit.bitmap === undefined ? undefined : bitText(unit.bitmap);
    return { ...entry, eval: passes, extendDataJson: extJson(unit), bitMap };
  }
}

/** As fastjson writes a CqExtUnit. */
function extJson({ bytes: size, tagsCode, storeTimestamp: msgStoreTime, bitmap }: ExtUnit): string {
  const filterBitMap = bitmap === undefined ? undefined : Buffer.from(bitmap).toString('base64');
  return jsonText({ filterBitMap, msgStoreTime, size, tagsCode });
}

/** From the last bit to the first, in lines of eight bytes counted from the first (4.9: BitsArray#toString). */
function bitText(bitmap: Uint8Array): string {
  let text = '';
  for (let i = bitmap.length - 1; i >= 0; i--) {
    text += (bitmap[i] ?? 0).toString(2).padStart(8, '0');
    if (i % 8 === 0) text += '\n';
  }
  return text;
}

/** 4.9 keeps filter data for every expression but tags. */
function filterDataOf(
  group: string | undefined,
  topic: string,
  subscription: SubscriptionData | undefined,
): string | undefined {
  if (group === undefined) return undefined;
  if (subscription === undefined) return `${group}@${topic} is not online!`;
  const { expressionType, subString: expression } = subscription;
  if (expressionType === 'TAG') return 'null';
  return jsonText({ consumerGroup: group, expression, expressionType, topic });
}
