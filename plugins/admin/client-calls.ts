import { KernelError, messageOf } from '../../kernel/base/errors.js';
import { inject, injectable } from '../../kernel/container.js';
import { Logger, Options } from '../../kernel/tokens.js';
import type { QueueOffsets } from '../../protocol/bodies/reset-offset.js';
import { decodeGetConsumerStatusBody, encodeGetConsumerStatusBody } from '../../protocol/bodies/reset-offset.js';
import { RequestCode, ResponseCode, Version } from '../../protocol/codes.js';
import type { ExtFields, Request } from '../../protocol/command.js';
import { decodeConsumeMessageDirectly } from '../../protocol/headers/consume-message-directly.js';
import { decodeGetConsumerRunningInfo } from '../../protocol/headers/get-consumer-running-info.js';
import { encodeGetConsumerStatusFromClient } from '../../protocol/headers/get-consumer-status-from-client.js';
import { decodeInvokeBrokerToGetConsumerStatus } from '../../protocol/headers/invoke-broker-to-get-consumer-status.js';
import { decodeOffsetMessageId } from '../../protocol/message/message-id.js';
import { LogReader } from '../commitlog/contract.js';
import { Consumers, type ClientChannel } from '../groups/contract.js';
import type { Connection, PeerResponse, Reply, RequestRouter } from '../remoting/contract.js';

/** 4.9: Broker2Client#callClient. Whoever asks the broker waits 15 s. */
const CALL_TIMEOUT_MS = 10_000;
/** Below the 5 s after which whoever asks the broker gives up: the answers of the other clients still reach it. */
const STATUS_TIMEOUT_MS = 3000;

interface Relayed {
  readonly code: number;
  readonly group: string;
  readonly clientId: string;
  readonly ext: ExtFields;
  readonly body?: Buffer;
}

/** Questions that a broker passes on to consumers; a client that does not answer holds up nobody else (4.9: Broker2Client). */
@injectable()
export class ClientCalls {
  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(LogReader) private readonly log: LogReader,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, (request, from) => this.#status(request, from));
    router.handle(RequestCode.GET_CONSUMER_RUNNING_INFO, (request) => this.#runningInfo(request));
    router.handle(RequestCode.CONSUME_MESSAGE_DIRECTLY, (request) => this.#consumeDirectly(request));
  }

  #runningInfo({ code, ext }: Request): Promise<Reply> {
    const { consumerGroup: group, clientId } = decodeGetConsumerRunningInfo(ext);
    return this.#relay({ code, group, clientId, ext });
  }

  async #consumeDirectly({ code, ext }: Request): Promise<Reply> {
    const { consumerGroup: group, clientId = '', msgId = '' } = decodeConsumeMessageDirectly(ext);
    const body = await this.#record(msgId);
    if (body === undefined)
      return { code: ResponseCode.SYSTEM_ERROR, remark: `can not find message by the offset message id, ${msgId}` };
    return this.#relay({ code, group, clientId, ext: { ...ext, brokerName: this.options.brokerName }, body });
  }

  #record(msgId: string): Promise<Buffer | undefined> {
    let physicalOffset: number;
    try {
      ({ physicalOffset } = decodeOffsetMessageId(msgId));
    } catch {
      return Promise.resolve(undefined);
    }
    return this.log.record(physicalOffset);
  }

  /** 4.9: AdminBrokerProcessor#callConsumer: the client's answer, or why there is none. */
  async #relay({ code, group, clientId, ext, body }: Relayed): Promise<Reply> {
    const client = this.consumers.group(group)?.channels.get(clientId);
    const who = `<${group}> <${clientId}>`;
    if (client === undefined) return { code: ResponseCode.SYSTEM_ERROR, remark: `The Consumer ${who} not online` };
    if (client.version < Version.V3_1_8_SNAPSHOT) {
      const remark = `The Consumer <${clientId}> Version <${client.version}> too low to finish, please upgrade it to V3_1_8_SNAPSHOT`;
      return { code: ResponseCode.SYSTEM_ERROR, remark };
    }
    try {
      return await client.connection.call(code, ext, body, CALL_TIMEOUT_MS);
    } catch (error) {
      return error instanceof KernelError && error.code === 'PEER_TIMEOUT'
        ? { code: ResponseCode.CONSUME_MSG_TIMEOUT, remark: `consumer ${who} Timeout: ${messageOf(error)}` }
        : { code: ResponseCode.SYSTEM_ERROR, remark: `invoke consumer ${who} Exception: ${messageOf(error)}` };
    }
  }

  /** 4.9: Broker2Client#getConsumeStatus; it asks one client after the other. */
  async #status({ ext }: Request, from: Connection): Promise<Reply> {
    const { topic, group, clientAddr = '' } = decodeInvokeBrokerToGetConsumerStatus(ext);
    this.logger.info({ topic, group, client: from.remote }, 'state of consumers asked for');
    const clients = [...(this.consumers.group(group)?.channels.values() ?? [])];
    if (clients.length === 0) {
      const remark = `No Any Consumer online in the consumer group: [${group}]`;
      return { code: ResponseCode.SYSTEM_ERROR, remark };
    }
    const old = clients.find(({ version }) => version < Version.V3_0_7_SNAPSHOT);
    if (old !== undefined) return unsupportedBy(old);
    const asked = clientAddr.trim() === '' ? clients : clients.filter(({ clientId }) => clientId === clientAddr);
    const request = encodeGetConsumerStatusFromClient({ topic, group });
    const answers = await Promise.all(asked.map((client) => this.#statusOf(client, request)));
    const consumerTable = new Map(answers.filter((answer) => answer !== undefined));
    return { code: ResponseCode.SUCCESS, body: encodeGetConsumerStatusBody({ messageQueueTable: [], consumerTable }) };
  }

  /** Undefined when the client has no answer; the others' answers count all the same. */
  async #statusOf(client: ClientChannel, ext: ExtFields): Promise<[string, QueueOffsets] | undefined> {
    const { clientId, connection } = client;
    const code = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT;
    try {
      const answer: PeerResponse = await connection.call(code, ext, undefined, STATUS_TIMEOUT_MS);
      if (answer.code === ResponseCode.SUCCESS)
        return [clientId, decodeGetConsumerStatusBody(answer.body).messageQueueTable];
      this.logger.warn({ clientId, client: connection.remote, ...answer }, 'a consumer refused to tell its state');
    } catch (error) {
      this.logger.warn({ clientId, client: connection.remote, error: messageOf(error) }, 'a consumer told no state');
    }
    return undefined;
  }
}

/** 4.9 tells old clients apart by the version in their heartbeats. */
export function unsupportedBy({ clientId, version }: ClientChannel): Reply {
  const remark = `the client does not support this feature. version=${version} client=${clientId}`;
  return { code: ResponseCode.SYSTEM_ERROR, remark };
}
