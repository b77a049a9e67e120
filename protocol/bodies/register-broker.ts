/**
 * Body of REGISTER_BROKER (103), in two encodings. 4.9: RegisterBrokerBody.
 *
 *   plain       {"filterServerList":[…],"topicConfigSerializeWrapper":{…}}
 *   compressed  zlib stream (level 9) of
 *               int32 + DataVersion as JSON
 *               int32 count, then per topic int32 + `name readQueues writeQueues perm filterType`
 *               int32 + filter server list as JSON
 *
 * The compressed form loses topicSysFlag and order. The header's bodyCrc32 is the CRC of these bytes as sent.
 */
import { constants, deflateSync, inflateSync } from 'node:zlib';
import { Perm } from '../codes.js';
import { ProtocolError } from '../errors.js';
import { readJson } from './json.js';
import { jsonText, writeJson } from './json-write.js';
import { asObject, bodyObject, list, textValue } from './shape.js';
import {
  dataVersionBean,
  readDataVersion,
  readTopicConfigWrapper,
  topicConfigWrapperBean,
  type TopicConfig,
  type TopicConfigSerializeWrapper,
} from './topic-config.js';

export interface RegisterBrokerBody {
  readonly topicConfigSerializeWrapper: TopicConfigSerializeWrapper;
  readonly filterServerList: readonly string[];
}

/** A small body can inflate to anything; more than this is no registration. */
export const INFLATED_BYTES_MAX = 16 * 1024 * 1024;

export function encodeRegisterBrokerBody(body: RegisterBrokerBody, compressed: boolean): Buffer {
  if (!compressed) {
    return writeJson({
      filterServerList: body.filterServerList,
      topicConfigSerializeWrapper: topicConfigWrapperBean(body.topicConfigSerializeWrapper),
    });
  }
  const { topicConfigTable, dataVersion } = body.topicConfigSerializeWrapper;
  const parts: Buffer[] = [];
  addText(parts, jsonText(dataVersionBean(dataVersion)));
  parts.push(int32(topicConfigTable.size));
  for (const config of topicConfigTable.values()) addText(parts, topicLine(config));
  addText(parts, jsonText(body.filterServerList));
  return deflateSync(Buffer.concat(parts), { level: constants.Z_BEST_COMPRESSION });
}

/** Throws ProtocolError for bytes of another shape or such that inflate beyond INFLATED_BYTES_MAX. */
export function decodeRegisterBrokerBody(body: Uint8Array, compressed: boolean): RegisterBrokerBody {
  return compressed ? decodeCompressed(body) : decodePlain(body);
}

function decodePlain(body: Uint8Array): RegisterBrokerBody {
  const object = bodyObject(body, 'RegisterBrokerBody');
  const wrapper = object['topicConfigSerializeWrapper'];
  return {
    topicConfigSerializeWrapper: readTopicConfigWrapper(asObject(wrapper, 'topicConfigSerializeWrapper')),
    filterServerList: list(object, 'filterServerList', textValue),
  };
}

function decodeCompressed(body: Uint8Array): RegisterBrokerBody {
  const input = new Input(inflated(body));
  const dataVersion = readDataVersion(readJson(input.text()));
  const topicConfigTable = new Map<string, TopicConfig>();
  for (let left = input.count(); left > 0; left--) {
    const config = parseTopicLine(input.text());
    topicConfigTable.set(config.topicName, config);
  }
  const filterServerList = list({ filterServerList: readJson(input.text()) }, 'filterServerList', textValue);
  return { topicConfigSerializeWrapper: { topicConfigTable, dataVersion }, filterServerList };
}

function inflated(body: Uint8Array): Buffer {
  try {
    return inflateSync(body, { maxOutputLength: INFLATED_BYTES_MAX });
  } catch (error) {
    throw new ProtocolError('compressed registration does not inflate', { cause: error });
  }
}

class Input {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  count(): number {
    if (this.at + 4 > this.bytes.length) throw new ProtocolError('registration is cut off');
    const count = this.bytes.readInt32BE(this.at);
    this.at += 4;
    if (count < 0 || count > this.bytes.length - this.at)
      throw new ProtocolError(`registration with a length of ${count}`);
    return count;
  }

  text(): string {
    const bytes = this.count();
    this.at += bytes;
    return this.bytes.toString('utf8', this.at - bytes, this.at);
  }
}

/** 4.9: TopicConfig#encode. */
function topicLine(config: TopicConfig): string {
  const { topicName, readQueueNums, writeQueueNums, perm, topicFilterType } = config;
  return `${topicName} ${readQueueNums} ${writeQueueNums} ${perm} ${topicFilterType}`;
}

/** 4.9 makes a topic of defaults from a line of another shape; here it is an error, since such a topic has no name. */
function parseTopicLine(line: string): TopicConfig {
  const found = /^(\S+) (\d{1,9}) (\d{1,9}) (\d{1,9}) (SINGLE_TAG|MULTI_TAG)$/.exec(line);
  if (found === null) throw new ProtocolError('registration holds a bad topic line');
  return {
    topicName: found[1] as string,
    readQueueNums: Number(found[2]),
    writeQueueNums: Number(found[3]),
    perm: Number(found[4]) & (Perm.PRIORITY | Perm.READ | Perm.WRITE | Perm.INHERIT),
    topicFilterType: found[5] as TopicConfig['topicFilterType'],
    topicSysFlag: 0,
    order: false,
  };
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function addText(parts: Buffer[], text: string): void {
  const bytes = Buffer.from(text);
  parts.push(int32(bytes.length), bytes);
}
