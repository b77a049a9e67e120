import { encodeHeartbeat, type ConsumerData, type SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import { PullSysFlag, RequestCode } from '../../protocol/codes.js';
import { Serialize } from '../../protocol/command.js';
import {
  decodePullMessageResponse,
  encodePullMessage,
  type PullMessageRequestHeader,
  type PullMessageResponseHeader,
} from '../../protocol/headers/pull-message.js';
import {
  decodeSendMessageResponse,
  encodeSendMessage,
  type SendMessageRequestHeader,
  type SendMessageResponseHeader,
} from '../../protocol/headers/send-message.js';
import { encodeSendMessageV2 } from '../../protocol/headers/send-message-v2.js';
import { decodeRecords, type StoredMessage } from '../../protocol/message/record.js';
import type { Answer, Ask, RawClient } from './raw-client.js';
import { until } from './until.js';

export interface SendWish extends Partial<SendMessageRequestHeader> {
  readonly body?: Buffer;
  /** 10, 310 (default) or 320. */
  readonly code?: number;
  readonly serialize?: Serialize;
  readonly version?: number;
}

/** A send request as a producer of 4.9.7 makes it: topic T, queue 0, no properties. */
export function sendAsk(wish: SendWish = {}): { readonly code: number; readonly ask: Ask } {
  const { body = Buffer.from('body'), code = RequestCode.SEND_MESSAGE_V2, serialize = Serialize.JSON, version } = wish;
  const header: SendMessageRequestHeader = {
    producerGroup: 'PG',
    topic: 'T',
    defaultTopic: 'TBW102',
    defaultTopicQueueNums: 4,
    queueId: 0,
    sysFlag: 0,
    bornTimestamp: 1_700_000_000_000,
    flag: 0,
    unitMode: false,
    batch: code === RequestCode.SEND_BATCH_MESSAGE,
    ...headerOf(wish),
  };
  const ext =
    code === RequestCode.SEND_MESSAGE ? encodeSendMessage(header, serialize) : encodeSendMessageV2(header, serialize);
  return { code, ask: { ext, body, serialize, ...(version === undefined ? {} : { version }) } };
}

export interface Sent extends Answer {
  /** Of an answer with code 0 or 10. */
  readonly header: SendMessageResponseHeader;
}

export async function send(client: RawClient, wish: SendWish = {}): Promise<Sent> {
  const { code, ask } = sendAsk(wish);
  return sentOf(await client.ask(code, ask));
}

export function sentOf(answer: Answer): Sent {
  return { ...answer, header: 'msgId' in answer.ext ? decodeSendMessageResponse(answer.ext) : noHeader };
}

const noHeader = { msgId: '', queueId: -1, queueOffset: -1 } as SendMessageResponseHeader;

export interface PullWish extends Partial<PullMessageRequestHeader> {
  readonly serialize?: Serialize;
}

/** A pull with a filter of its own and without holding, unless said otherwise: topic T, queue 0, offset 0, 32 messages, group G. */
export function pullAsk({ serialize = Serialize.JSON, ...wish }: PullWish = {}): Ask {
  const header: PullMessageRequestHeader = {
    consumerGroup: 'G',
    topic: 'T',
    queueId: 0,
    queueOffset: 0,
    maxMsgNums: 32,
    sysFlag: PullSysFlag.SUBSCRIPTION,
    commitOffset: 0,
    suspendTimeoutMillis: 15_000,
    subscription: '*',
    subVersion: 0,
    expressionType: 'TAG',
    ...wish,
  };
  return { ext: encodePullMessage(header, serialize), serialize };
}

export interface Pulled extends Answer {
  readonly header: PullMessageResponseHeader;
  readonly messages: StoredMessage[];
}

export async function pull(client: RawClient, wish: PullWish = {}): Promise<Pulled> {
  return pulledOf(await client.ask(RequestCode.PULL_MESSAGE, pullAsk(wish)));
}

export function pulledOf(answer: Answer): Pulled {
  const header = 'nextBeginOffset' in answer.ext ? decodePullMessageResponse(answer.ext) : noPullHeader;
  return { ...answer, header, messages: decodeRecords(answer.body) };
}

const noPullHeader = { suggestWhichBrokerId: -1, nextBeginOffset: -1, minOffset: -1, maxOffset: -1 };

/** The messages of a queue from `queueOffset` on, as soon as `count` of them are visible; fails when there are more. */
export async function pullAll(client: RawClient, count: number, wish: PullWish = {}): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  let queueOffset = wish.queueOffset ?? 0;
  await until(
    async () => {
      const pulled = await pull(client, { ...wish, queueOffset });
      messages.push(...pulled.messages);
      const ended = pulled.header.nextBeginOffset <= queueOffset;
      queueOffset = Math.max(queueOffset, pulled.header.nextBeginOffset);
      return ended && messages.length >= count;
    },
    `${count} messages of ${wish.topic ?? 'T'} are visible`,
  );
  if (messages.length > count) throw new Error(`${messages.length} messages instead of ${count}`);
  return messages;
}

export function subscriptionTo(topic: string, more: Partial<SubscriptionData> = {}): SubscriptionData {
  const subString = more.subString ?? '*';
  const tagsSet = subString === '*' ? [] : subString.split('||').map((tag) => tag.trim());
  return {
    topic,
    subString,
    tagsSet,
    codeSet: [],
    subVersion: 1,
    expressionType: 'TAG',
    classFilterMode: false,
    ...more,
  };
}

/** A group as its client's heartbeat describes it: clustering, pushed. */
export function consumerOf(
  groupName: string,
  subscriptionDataSet: SubscriptionData[],
  more: Partial<ConsumerData> = {},
): ConsumerData {
  return {
    groupName,
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET',
    subscriptionDataSet,
    unitMode: false,
    ...more,
  };
}

/** HEART_BEAT (34) of one consumer group. */
export function heartbeat(
  client: RawClient,
  groupName: string,
  subscriptions: SubscriptionData[],
  more: Partial<ConsumerData> = {},
): Promise<Answer> {
  const body = encodeHeartbeat({
    clientID: `client@${client.localPort}`,
    consumerDataSet: [consumerOf(groupName, subscriptions, more)],
    producerDataSet: [],
  });
  return client.ask(RequestCode.HEART_BEAT, { body });
}

/** `name: value` as a message's property string. */
export function propertyText(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}\u0001${value}`)
    .join('\u0002');
}

function headerOf({
  body: _body,
  code: _code,
  serialize: _form,
  version: _version,
  ...header
}: SendWish): Partial<SendMessageRequestHeader> {
  return header;
}
