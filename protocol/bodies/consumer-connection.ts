/** Bodies of 203, 204 and 328: who is connected. 4.9: ConsumerConnection, ProducerConnection, ProducerTableInfo. */
import { LanguageCode, languageName } from '../codes.js';
import {
  consumeTypes,
  messageModels,
  readSubscription,
  subscriptionBean,
  type ConsumeType,
  type MessageModel,
  type SubscriptionData,
} from './heartbeat.js';
import type { JsonObject, JsonValue } from './json.js';
import { writeJson, type WritableBean } from './json-write.js';
import { asObject, bodyObject, list, oneOf, table, text, textKey, whole } from './shape.js';

export interface ClientConnection {
  readonly clientId: string;
  /** `host:port` of the client's end of the connection. */
  readonly clientAddr: string;
  /** Number of LanguageCode. */
  readonly language: number;
  /** Ordinal of Version. */
  readonly version: number;
}

export interface ConsumerConnection {
  readonly connectionSet: readonly ClientConnection[];
  readonly subscriptionTable: ReadonlyMap<string, SubscriptionData>;
  readonly consumeType: ConsumeType;
  readonly messageModel: MessageModel;
  readonly consumeFromWhere: string;
}

export interface ProducerConnection {
  readonly connectionSet: readonly ClientConnection[];
}

export interface ProducerInfo {
  readonly clientId: string;
  readonly remoteIP: string;
  readonly language: number;
  readonly version: number;
  readonly lastUpdateTimestamp: number;
}

export interface ProducerTableInfo {
  /** Producers by group. */
  readonly data: ReadonlyMap<string, readonly ProducerInfo[]>;
}

function connectionBean(connection: ClientConnection): WritableBean {
  const { clientId, clientAddr, language, version } = connection;
  return { clientId, clientAddr, language: languageName(language), version };
}

function readLanguage(object: JsonObject): number {
  const name = text(object, 'language', 'OTHER');
  return Object.hasOwn(LanguageCode, name) ? LanguageCode[name as keyof typeof LanguageCode] : LanguageCode.OTHER;
}

function readConnection(value: JsonValue): ClientConnection {
  const object = asObject(value, 'connectionSet');
  return {
    clientId: text(object, 'clientId', ''),
    clientAddr: text(object, 'clientAddr', ''),
    language: readLanguage(object),
    version: whole(object, 'version', 0),
  };
}

export function encodeConsumerConnection(connection: ConsumerConnection): Buffer {
  return writeJson({
    connectionSet: connection.connectionSet.map(connectionBean),
    consumeFromWhere: connection.consumeFromWhere,
    consumeType: connection.consumeType,
    messageModel: connection.messageModel,
    subscriptionTable: new Map(
      [...connection.subscriptionTable].map(([topic, data]) => [topic, subscriptionBean(data)]),
    ),
  });
}

export function decodeConsumerConnection(body: string | Uint8Array): ConsumerConnection {
  const object = bodyObject(body, 'ConsumerConnection');
  return {
    connectionSet: list(object, 'connectionSet', readConnection),
    subscriptionTable: table(object, 'subscriptionTable', textKey, readSubscription),
    consumeType: oneOf(object, 'consumeType', consumeTypes),
    messageModel: oneOf(object, 'messageModel', messageModels),
    consumeFromWhere: text(object, 'consumeFromWhere', 'CONSUME_FROM_LAST_OFFSET'),
  };
}

export function encodeProducerConnection(connection: ProducerConnection): Buffer {
  return writeJson({ connectionSet: connection.connectionSet.map(connectionBean) });
}

export function decodeProducerConnection(body: string | Uint8Array): ProducerConnection {
  return { connectionSet: list(bodyObject(body, 'ProducerConnection'), 'connectionSet', readConnection) };
}

export function encodeProducerTableInfo(info: ProducerTableInfo): Buffer {
  const bean = (producer: ProducerInfo): WritableBean => ({ ...producer, language: languageName(producer.language) });
  return writeJson({ data: new Map([...info.data].map(([group, producers]) => [group, producers.map(bean)])) });
}

export function decodeProducerTableInfo(body: string | Uint8Array): ProducerTableInfo {
  const readInfo = (value: JsonValue, what: string): ProducerInfo => {
    const object = asObject(value, what);
    return {
      clientId: text(object, 'clientId', ''),
      remoteIP: text(object, 'remoteIP', ''),
      language: readLanguage(object),
      version: whole(object, 'version', 0),
      lastUpdateTimestamp: whole(object, 'lastUpdateTimestamp', 0),
    };
  };
  return {
    data: table(bodyObject(body, 'ProducerTableInfo'), 'data', textKey, (value, what) =>
      list({ [what]: value }, what, readInfo),
    ),
  };
}
