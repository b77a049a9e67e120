import { decodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { decodeLockBatchRequestBody, encodeLockBatchResponseBody } from '../../../protocol/bodies/lock-batch.js';
import { encodeConsumerList } from '../../../protocol/bodies/consumer-list.js';
import { encodeTopicRouteData } from '../../../protocol/bodies/route.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import type { Request } from '../../../protocol/command.js';
import { decodeGetMaxOffset, encodeGetMaxOffsetResponse } from '../../../protocol/headers/get-max-offset.js';
import { decodePullMessage, encodePullMessageResponse } from '../../../protocol/headers/pull-message.js';
import {
  decodeQueryConsumerOffset,
  encodeQueryConsumerOffsetResponse,
} from '../../../protocol/headers/query-consumer-offset.js';
import { decodeSendMessageV2, encodeSendMessageV2Response } from '../../../protocol/headers/send-message-v2.js';
import { decodeUpdateConsumerOffset } from '../../../protocol/headers/update-consumer-offset.js';
import { encodeRecord } from '../../../protocol/message/record.js';
import { ScriptedServer, type Script, type Scripted, type ScriptedReply } from './scripted-server.js';

export interface FakeTopic {
  readonly queues: number;
  readonly perm?: number;
}

/** What stands in one queue: the first offset still there, and the records from it on. */
export interface FakeQueue {
  min: number;
  readonly records: Buffer[];
}

const ok: ScriptedReply = { code: ResponseCode.SUCCESS };
const HELD_MS = 20;

/** Name server and broker in one, with topics in memory: enough of 4.9.7's answers for a client, each of them replaceable. */
export class FakeBroker {
  readonly server: ScriptedServer;
  readonly brokerName: string;
  readonly topics = new Map<string, FakeTopic>();
  readonly queues = new Map<string, FakeQueue>();
  /** Committed offsets by `topic@queueId`. */
  readonly committed = new Map<string, number>();
  readonly clientIds = new Set<string>();
  /** Owners of locked queues by `topic@queueId`. */
  readonly locks = new Map<string, string>();
  /** Other brokers that this one, as a name server, tells of. */
  readonly others: FakeBroker[] = [];
  /** Slaves of this one by their ids. */
  readonly slaves = new Map<number, FakeBroker>();
  /** The member of its group that answers to pulls name. */
  suggests = 0;

  private constructor(server: ScriptedServer, brokerName: string) {
    this.server = server;
    this.brokerName = brokerName;
    this.#script();
  }

  static async start(brokerName = 'broker-a'): Promise<FakeBroker> {
    return new FakeBroker(await ScriptedServer.listen(), brokerName);
  }

  get address(): string {
    return this.server.address;
  }

  queue(topic: string, queueId: number): FakeQueue {
    const key = `${topic}@${queueId}`;
    let queue = this.queues.get(key);
    if (queue === undefined) this.queues.set(key, (queue = { min: 0, records: [] }));
    return queue;
  }

  /** Puts messages with these bodies into a queue. */
  fill(topic: string, queueId: number, bodies: readonly (string | Buffer)[], properties = '', sysFlag = 0): void {
    const queue = this.queue(topic, queueId);
    for (const body of bodies) {
      const queueOffset = queue.min + queue.records.length;
      queue.records.push(
        encodeRecord({
          topic,
          queueId,
          flag: 0,
          sysFlag,
          bornTimestamp: 1,
          bornAddress: Buffer.from([127, 0, 0, 1]),
          bornPort: 1,
          storeAddress: Buffer.from([127, 0, 0, 1]),
          storePort: this.server.port,
          reconsumeTimes: 0,
          preparedTransactionOffset: 0,
          body: typeof body === 'string' ? Buffer.from(body) : body,
          properties,
          queueOffset,
          physicalOffset: 1000 + queueOffset,
          storeTimestamp: 1,
        }),
      );
    }
  }

  on(code: number, script: Script | Scripted): this {
    this.server.on(code, script);
    return this;
  }

  asked(code: number): Request[] {
    return this.server.asked(code);
  }

  /** Offsets that clients committed for a queue, in order. */
  commits(topic: string, queueId: number): number[] {
    return this.asked(RequestCode.UPDATE_CONSUMER_OFFSET)
      .map((request) => decodeUpdateConsumerOffset(request.ext))
      .filter((header) => header.topic === topic && header.queueId === queueId)
      .map((header) => header.commitOffset);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  #script(): void {
    this.on(RequestCode.GET_ROUTEINFO_BY_TOPIC, (request) => this.#route(request.ext['topic']!));
    this.on(RequestCode.HEART_BEAT, (request) => {
      const { clientID, consumerDataSet } = decodeHeartbeat(request.body);
      if (consumerDataSet.length > 0) this.clientIds.add(clientID);
      return ok;
    });
    this.on(RequestCode.UNREGISTER_CLIENT, (request) => {
      this.clientIds.delete(request.ext['clientID']!);
      return ok;
    });
    this.on(RequestCode.GET_CONSUMER_LIST_BY_GROUP, () => ({
      ...ok,
      body: encodeConsumerList({ consumerIdList: [...this.clientIds] }),
    }));
    this.on(RequestCode.LOCK_BATCH_MQ, (request) => this.#lock(request));
    this.on(RequestCode.UNLOCK_BATCH_MQ, (request) => {
      const { clientId, mqSet } = decodeLockBatchRequestBody(request.body);
      for (const { topic, queueId } of mqSet)
        if (this.locks.get(`${topic}@${queueId}`) === clientId) this.locks.delete(`${topic}@${queueId}`);
      return ok;
    });
    this.on(RequestCode.SEND_MESSAGE_V2, (request) => this.#stored(request));
    this.on(RequestCode.SEND_BATCH_MESSAGE, (request) => this.#stored(request));
    this.on(RequestCode.CONSUMER_SEND_MSG_BACK, ok);
    this.on(RequestCode.QUERY_CONSUMER_OFFSET, (request) => this.#committedOffset(request));
    this.on(RequestCode.UPDATE_CONSUMER_OFFSET, (request) => {
      const { topic, queueId, commitOffset } = decodeUpdateConsumerOffset(request.ext);
      this.committed.set(`${topic}@${queueId}`, commitOffset);
      return ok;
    });
    this.on(RequestCode.GET_MAX_OFFSET, (request) => this.#bound(request, 'max'));
    this.on(RequestCode.GET_MIN_OFFSET, (request) => this.#bound(request, 'min'));
    this.on(RequestCode.PULL_MESSAGE, (request) => this.#pulled(request));
  }

  #route(topic: string): Scripted {
    const brokers = [this, ...this.others].filter((broker) => broker.topics.has(topic));
    if (brokers.length === 0) return { code: ResponseCode.TOPIC_NOT_EXIST, remark: `no topic ${topic}` };
    const body = encodeTopicRouteData(
      {
        queueDatas: brokers.map((broker) => {
          const { queues, perm = 6 } = broker.topics.get(topic)!;
          const { brokerName } = broker;
          return { brokerName, readQueueNums: queues, writeQueueNums: queues, perm, topicSysFlag: 0 };
        }),
        brokerDatas: brokers.map(({ brokerName, address, slaves }) => ({
          cluster: 'C',
          brokerName,
          brokerAddrs: new Map([...[...slaves].map(([id, slave]) => [id, slave.address] as const), [0, address]]),
        })),
        filterServerTable: new Map(),
      },
      'standard',
    );
    return { ...ok, body };
  }

  #lock(request: Request): Scripted {
    const { clientId, mqSet } = decodeLockBatchRequestBody(request.body);
    const lockOKMQSet = mqSet.filter(({ topic, queueId }) => {
      const key = `${topic}@${queueId}`;
      if (!this.locks.has(key)) this.locks.set(key, clientId);
      return this.locks.get(key) === clientId;
    });
    return { ...ok, body: encodeLockBatchResponseBody({ lockOKMQSet }) };
  }

  #stored(request: Request): Scripted {
    const { queueId, topic } = decodeSendMessageV2(request.ext);
    const queue = this.queue(topic, queueId);
    const queueOffset = queue.min + queue.records.length;
    this.fill(topic, queueId, [Buffer.from(request.body)], decodeSendMessageV2(request.ext).properties);
    return { ...ok, ext: encodeSendMessageV2Response({ msgId: `ID${queueOffset}`, queueId, queueOffset }) };
  }

  #committedOffset(request: Request): Scripted {
    const { topic, queueId } = decodeQueryConsumerOffset(request.ext);
    const offset = this.committed.get(`${topic}@${queueId}`);
    if (offset === undefined) return { code: ResponseCode.QUERY_NOT_FOUND, remark: 'never consumed' };
    return { ...ok, ext: encodeQueryConsumerOffsetResponse({ offset }) };
  }

  #bound(request: Request, which: 'min' | 'max'): Scripted {
    const { topic, queueId } = decodeGetMaxOffset(request.ext);
    const { min, records } = this.queue(topic, queueId);
    return { ...ok, ext: encodeGetMaxOffsetResponse({ offset: which === 'min' ? min : min + records.length }) };
  }

  /** Holds a pull that finds nothing for a moment only, so that tests need not wait. */
  async #pulled(request: Request): Promise<Scripted> {
    const { topic, queueId, queueOffset, maxMsgNums } = decodePullMessage(request.ext);
    const queue = this.queue(topic, queueId);
    const maxOffset = queue.min + queue.records.length;
    const header = { suggestWhichBrokerId: this.suggests, minOffset: queue.min, maxOffset };
    if (queueOffset < queue.min || queueOffset > maxOffset) {
      const nextBeginOffset = queueOffset < queue.min ? queue.min : maxOffset;
      return { code: ResponseCode.PULL_OFFSET_MOVED, ext: encodePullMessageResponse({ ...header, nextBeginOffset }) };
    }
    const found = queue.records.slice(queueOffset - queue.min, queueOffset - queue.min + maxMsgNums);
    const ext = encodePullMessageResponse({ ...header, nextBeginOffset: queueOffset + found.length });
    if (found.length > 0) return { ...ok, ext, body: Buffer.concat(found) };
    await new Promise((resolve) => setTimeout(() => resolve(undefined), HELD_MS));
    return { code: ResponseCode.PULL_NOT_FOUND, ext };
  }
}
