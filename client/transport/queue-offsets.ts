import { RequestCode } from '../../protocol/codes.js';
import { decodeGetMaxOffsetResponse, encodeGetMaxOffset } from '../../protocol/headers/get-max-offset.js';
import { decodeGetMinOffsetResponse, encodeGetMinOffset } from '../../protocol/headers/get-min-offset.js';
import {
  decodeSearchOffsetByTimestampResponse,
  encodeSearchOffsetByTimestamp,
} from '../../protocol/headers/search-offset-by-timestamp.js';
import type { Answer, Call } from './channel.js';
import type { ClientCore } from './client-core.js';
import type { MessageQueue } from './message-queue.js';

/** Offset after the newest message of a queue. */
export async function maxOffset(core: ClientCore, queue: MessageQueue): Promise<number> {
  const call = { code: RequestCode.GET_MAX_OFFSET, ext: encodeGetMaxOffset(place(queue)) };
  return decodeGetMaxOffsetResponse((await ask(core, queue, call)).ext).offset;
}

/** Offset of the oldest message still there. */
export async function minOffset(core: ClientCore, queue: MessageQueue): Promise<number> {
  const call = { code: RequestCode.GET_MIN_OFFSET, ext: encodeGetMinOffset(place(queue)) };
  return decodeGetMinOffsetResponse((await ask(core, queue, call)).ext).offset;
}

/** Offset of the first message stored at `timestampMs` (milliseconds since the epoch) or later. */
export async function searchOffset(core: ClientCore, queue: MessageQueue, timestampMs: number): Promise<number> {
  const ext = encodeSearchOffsetByTimestamp({ ...place(queue), timestamp: timestampMs });
  const answer = await ask(core, queue, { code: RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, ext });
  return decodeSearchOffsetByTimestampResponse(answer.ext).offset;
}

async function ask(core: ClientCore, queue: MessageQueue, call: Call): Promise<Answer> {
  const { address } = await core.routes.findBroker(queue.topic, queue.brokerName);
  return core.transport.request(address, call, core.requestTimeoutMs);
}

function place(queue: MessageQueue): { topic: string; queueId: number; bname: string } {
  return { topic: queue.topic, queueId: queue.queueId, bname: queue.brokerName };
}
