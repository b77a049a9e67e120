import { inject, injectable } from '../../kernel/container.js';
import { Logger } from '../../kernel/tokens.js';
import type { MessageQueue } from '../../protocol/bodies/message-queue.js';
import { encodeResetOffsetBody, encodeResetOffsetBodyForC } from '../../protocol/bodies/reset-offset.js';
import { LanguageCode, RequestCode, ResponseCode, Version } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import {
  decodeInvokeBrokerToResetOffset,
  type InvokeBrokerToResetOffsetRequestHeader,
} from '../../protocol/headers/invoke-broker-to-reset-offset.js';
import { encodeResetConsumerClientOffset } from '../../protocol/headers/reset-consumer-client-offset.js';
import { Consumers } from '../groups/contract.js';
import { Offsets } from '../offsets/contract.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Topics } from '../topics/contract.js';
import { unsupportedBy } from './client-calls.js';
import { Progress } from './progress.js';

/** In the place of a time: the end of each queue. */
const TO_THE_END = -1;

type Asked = InvokeBrokerToResetOffsetRequestHeader;

/**
 * INVOKE_BROKER_TO_RESET_OFFSET (222): the broker finds the offsets, the members of the group go there and commit them (4.9:
 * Broker2Client#resetOffset). Of a group without members tools change the offsets themselves, by 29 and 15.
 */
@injectable()
export class OffsetReset {
  constructor(
    @inject(Topics) private readonly topics: Topics,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Queues) private readonly queues: Queues,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(Progress) private readonly progress: Progress,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, (request, from) => this.#reset(request, from));
  }

  async #reset(request: Request, from: Connection): Promise<Reply> {
    const asked = decodeInvokeBrokerToResetOffset(request.ext);
    const { topic, group, timestamp } = asked;
    this.logger.info({ ...asked, client: from.remote }, 'reset of offsets asked for');
    const config = this.topics.get(topic);
    if (config === undefined)
      return refused(`[reset-offset] reset offset failed, no topic in this broker. topic=${topic}`);
    const offsetTable: [MessageQueue, number][] = [];
    for (let queueId = 0; queueId < config.writeQueueNums; queueId++) {
      const offset = await this.#target(asked, queueId);
      if (offset === undefined) return refused(`THe consumer group <${group}> not exist`);
      offsetTable.push([this.progress.queue(topic, queueId), offset]);
    }
    const members = [...(this.consumers.group(group)?.connections ?? [])];
    if (members.length === 0) {
      const remark = `Consumer not online, so can not reset offset, Group: ${group} Topic: ${topic} Timestamp: ${timestamp}`;
      return { code: ResponseCode.CONSUMER_NOT_ONLINE, remark };
    }
    const old = members.find(({ version }) => version < Version.V3_0_7_SNAPSHOT);
    if (old !== undefined) return unsupportedBy(old);
    // 4.9 never passes isForce on.
    const ext = encodeResetConsumerClientOffset({ topic, group, timestamp, isForce: false });
    const bodies = { list: encodeResetOffsetBodyForC({ offsetTable }), map: encodeResetOffsetBody({ offsetTable }) };
    for (const { clientId, connection, language } of members) {
      // C++ clients cannot read objects as keys; whoever asks says so for all, as in 4.9, or the client's own language does.
      const needsList = request.language === LanguageCode.CPP || language === LanguageCode.CPP;
      connection.notify(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, ext, needsList ? bodies.list : bodies.map);
      this.logger.info({ topic, group, clientId, client: connection.remote }, 'consumer told to reset its offsets');
    }
    return { code: ResponseCode.SUCCESS, body: bodies.map };
  }

  /** Never forward unless forced. Undefined when the group has no offset in the queue. */
  async #target({ topic, group, timestamp, isForce }: Asked, queueId: number): Promise<number | undefined> {
    const committed = this.offsets.query(group, topic, queueId);
    if (committed < 0) return undefined;
    const found =
      timestamp === TO_THE_END
        ? this.queues.maxOffset(topic, queueId)
        : await this.queues.offsetByTime(topic, queueId, timestamp);
    return isForce ? found : Math.min(found, committed);
  }
}

function refused(remark: string): Reply {
  return { code: ResponseCode.SYSTEM_ERROR, remark };
}
