import type { Clock } from '../../kernel/base/clock.js';
import { messageOf } from '../../kernel/base/errors.js';
import { asObject, bodyObject, text, whole } from '../../protocol/bodies/shape.js';
import { writeJson } from '../../protocol/bodies/json-write.js';
import { queueTableMap, readQueueTable } from '../../protocol/bodies/message-queue.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeConsumeMessageDirectly } from '../../protocol/headers/consume-message-directly.js';
import { decodeGetConsumerRunningInfo } from '../../protocol/headers/get-consumer-running-info.js';
import { decodeGetConsumerStatusFromClient } from '../../protocol/headers/get-consumer-status-from-client.js';
import { decodeNotifyConsumerIdsChanged } from '../../protocol/headers/notify-consumer-ids-changed.js';
import { decodeResetConsumerClientOffset } from '../../protocol/headers/reset-consumer-client-offset.js';
import { decodeRecord } from '../../protocol/message/record.js';
import type { ReceivedMessage } from '../message.js';
import { received } from '../received.js';
import type { ClientReply } from '../transport/channel.js';
import type { MessageQueue } from '../transport/message-queue.js';
import type { Transport } from '../transport/transport.js';
import { ABANDONED, type ConsumeResult } from './listener.js';

/** What a broker may ask of a consumer. */
export interface Asked {
  readonly group: string;
  readonly orderly: boolean;
  rebalance(): void;
  resetOffsets(offsets: readonly (readonly [MessageQueue, number])[]): void;
  /** Offsets in memory of the queues of a topic; of all topics when it is empty. */
  offsets(topic: string): readonly (readonly [MessageQueue, number])[];
  /** `listeners`: with what runs in them now. */
  runningInfo(listeners: boolean): Buffer;
  consumeDirectly(message: ReceivedMessage, queue: MessageQueue): Promise<ConsumeResult | typeof ABANDONED>;
}

/** Serves the requests that brokers send to consumers. 4.9: ClientRemotingProcessor. */
export function serveBrokers(transport: Transport, asked: Asked, clock: Clock): void {
  transport.handle(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, (request) => {
    if (decodeNotifyConsumerIdsChanged(request.ext).consumerGroup === asked.group) asked.rebalance();
    return undefined;
  });
  transport.handle(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, (request) => {
    const { topic, group } = decodeResetConsumerClientOffset(request.ext);
    if (group === asked.group) asked.resetOffsets(resetTable(request).filter(([queue]) => queue.topic === topic));
    return undefined;
  });
  transport.handle(RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, (request) => {
    const { topic, group } = decodeGetConsumerStatusFromClient(request.ext);
    const table = group === asked.group ? asked.offsets(topic) : [];
    return ok(writeJson({ messageQueueTable: queueTableMap(table, (offset: number) => offset) }));
  });
  transport.handle(RequestCode.GET_CONSUMER_RUNNING_INFO, (request) => {
    const { consumerGroup, jstackEnable } = decodeGetConsumerRunningInfo(request.ext);
    return consumerGroup === asked.group ? ok(asked.runningInfo(jstackEnable)) : notHere(consumerGroup);
  });
  transport.handle(RequestCode.CONSUME_MESSAGE_DIRECTLY, async (request) => {
    const { consumerGroup, brokerName } = decodeConsumeMessageDirectly(request.ext);
    if (consumerGroup !== asked.group) return notHere(consumerGroup);
    return ok(await consumeDirectly(request, brokerName ?? '', asked, clock));
  });
}

const ok = (body: Buffer): ClientReply => ({ code: ResponseCode.SUCCESS, body });

function notHere(group: string): ClientReply {
  return { code: ResponseCode.SYSTEM_ERROR, remark: `The Consumer Group <${group}> not exist in this consumer` };
}

/** `{"offsetTable":{{queue}:offset}}`, or the form for clients without object keys: a list of queues with their offsets. */
function resetTable(request: Request): (readonly [MessageQueue, number])[] {
  if (request.body.length === 0) return [];
  const table = bodyObject(request.body, 'ResetOffsetBody')['offsetTable'];
  if (!Array.isArray(table)) return readQueueTable(table, 'offsetTable', (offset) => whole({ offset }, 'offset'));
  return table.map((entry) => {
    const object = asObject(entry, 'offsetTable');
    const queue = {
      topic: text(object, 'topic'),
      brokerName: text(object, 'brokerName'),
      queueId: whole(object, 'queueId'),
    };
    return [queue, whole(object, 'offset')] as const;
  });
}

async function consumeDirectly(request: Request, brokerName: string, asked: Asked, clock: Clock): Promise<Buffer> {
  const { message, bodyProblem } = received(decodeRecord(request.body, 0), brokerName);
  const queue = { topic: message.topic, brokerName, queueId: message.queueId };
  const beganMs = clock.monoMs();
  let consumeResult = 'CR_THROW_EXCEPTION';
  let remark: string | undefined = bodyProblem;
  if (bodyProblem === undefined) {
    try {
      const result = await asked.consumeDirectly(message, queue);
      consumeResult = result === 'success' ? 'CR_SUCCESS' : result === ABANDONED ? 'CR_RETURN_NULL' : 'CR_LATER';
    } catch (error) {
      remark = messageOf(error);
    }
  }
  const spentTimeMills = Math.round(clock.monoMs() - beganMs);
  return writeJson({ autoCommit: true, consumeResult, order: asked.orderly, remark, spentTimeMills });
}
