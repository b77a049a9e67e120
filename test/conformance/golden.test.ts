import assert from 'node:assert/strict';
import { RequestCode, Version } from '../../protocol/codes.js';
import { decodeCommand, encodeRequest, encodeResponse, Serialize, type Request } from '../../protocol/command.js';
import { decodeBatch, encodeBatch } from '../../protocol/message/batch.js';
import { addressBytes } from '../../protocol/message/host.js';
import { decodeRecords, encodeRecord } from '../../protocol/message/record.js';
import { bodyCodecs } from '../golden/body-codecs.js';
import { answerHeaders, javaHeaders, requestHeaders } from '../golden/header-codecs.js';
import { golden, type CapturedFrame } from '../golden/load.js';

interface HeaderFrame {
  readonly header: string;
  readonly fields: 'all' | 'required';
  readonly serialize: 'JSON' | 'ROCKETMQ';
  readonly hex: string;
}

interface BodySample {
  readonly name: string;
  readonly text?: string;
}

const nameOfCode = new Map<number, string>(Object.entries(RequestCode).map(([name, code]) => [code, name]));

function decode(hex: string): Request {
  const frame = Buffer.from(hex, 'hex');
  assert.equal(frame.readInt32BE(0), frame.length - 4);
  return decodeCommand(frame, 4, frame.length);
}

/** The command again: what our encoders make of the values that our decoders found. */
function encodeAgain(command: Request, ext: Readonly<Record<string, string>> | undefined, body: Buffer): Buffer {
  const { code, opaque, serialize, language, version, remark, oneway } = command;
  const given = { ext, body: body.length === 0 ? undefined : body, remark };
  return command.isResponse
    ? encodeResponse({ opaque, serialize }, { code, ...given })
    : encodeRequest({ code, opaque, serialize, language, version, oneway, ...given });
}

/** Some bodies print times in the zone of the broker; those of the tables ran in UTC. */
function inUtc(): void {
  const zone = process.env['TZ'];
  before(() => {
    process.env['TZ'] = 'UTC';
  });
  after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });
}

/** Titles of what does not come out byte for byte, with the reason. */
const unlike = golden<Record<string, string>>('unlike.json');

function assertAlike(title: string, again: Buffer, hex: string): void {
  if (unlike[title] === undefined) assert.equal(again.toString('hex'), hex);
  else assert.notEqual(again.toString('hex'), hex, `alike after all, so unlike.json is wrong: ${title}`);
}

describe('golden: headers as 4.9.7 writes them', () => {
  const frames = golden<HeaderFrame[]>('headers.json');

  it('covers every header that we have', () => {
    assert.deepEqual([...new Set(frames.map(({ header }) => header))].sort(), Object.keys(javaHeaders).sort());
  });

  for (const { header, fields, serialize, hex } of frames) {
    const title = `${header}, ${fields} fields, ${serialize}`;
    it(title, () => {
      const command = decode(hex);
      const [code, kind] = javaHeaders[header]!;
      const again = (kind === 'request' ? requestHeaders : answerHeaders)[code]!;
      assertAlike(title, encodeAgain(command, again(command.ext, command.serialize), command.body), hex);
      if (fields === 'all') for (const name in command.ext) assertSample(name, command.ext[name]!);
    });
  }

  /** The rule by which capture/HeaderFrames.java fills a field. */
  function assertSample(name: string, text: string): void {
    const samples = [`${name} \u0001主题"`, String(-name.length), String(2 ** 40 + name.length), 'true'];
    assert.ok(samples.includes(text), `${name}=${text}`);
  }
});

describe('golden: bodies as 4.9.7 writes them', () => {
  inUtc();
  for (const { name, text } of golden<BodySample[]>('bodies.json').filter((sample) => sample.text !== undefined)) {
    it(name, () => {
      const again = bodyCodecs[name];
      assert.ok(again, `no codec for ${name}`);
      assert.equal(again(Buffer.from(text!)).toString(), text);
    });
  }
});

/** Which body codec reads what a code carries; a body of another kind (records, properties text, none) stays as it is. */
const bodyOf: Readonly<Record<string, string>> = {
  'request HEART_BEAT': 'HeartbeatData',
  'request CHECK_CLIENT_CONFIG': 'CheckClientRequestBody',
  'request LOCK_BATCH_MQ': 'LockBatchRequestBody',
  'request UNLOCK_BATCH_MQ': 'LockBatchRequestBody',
  'request UPDATE_AND_CREATE_SUBSCRIPTIONGROUP': 'SubscriptionGroupConfig',
  'request QUERY_DATA_VERSION': 'DataVersion',
  'request RESET_CONSUMER_CLIENT_OFFSET': 'ResetOffsetBody',
  'answer GET_ALL_TOPIC_CONFIG': 'TopicConfigSerializeWrapper',
  'answer GET_ALL_SUBSCRIPTIONGROUP_CONFIG': 'SubscriptionGroupWrapper',
  'answer GET_ALL_CONSUMER_OFFSET': 'ConsumerOffsetSerializeWrapper',
  'answer GET_ALL_DELAY_OFFSET': 'DelayOffsetSerializeWrapper',
  'answer GET_BROKER_RUNTIME_INFO': 'KVTable',
  'answer GET_CONSUMER_LIST_BY_GROUP': 'ConsumerList',
  'answer LOCK_BATCH_MQ': 'LockBatchResponseBody',
  'answer REGISTER_BROKER': 'KVTable',
  'answer GET_ROUTEINFO_BY_TOPIC': 'TopicRouteData standard',
  'answer GET_BROKER_CLUSTER_INFO': 'ClusterInfo',
  'answer GET_TOPIC_STATS_INFO': 'TopicStatsTable',
  'answer GET_CONSUME_STATS': 'ConsumeStats',
  'answer GET_CONSUMER_CONNECTION_LIST': 'ConsumerConnection',
  'answer GET_PRODUCER_CONNECTION_LIST': 'ProducerConnection',
  'answer GET_ALL_PRODUCER_INFO': 'ProducerTableInfo',
  'answer GET_ALL_TOPIC_LIST_FROM_NAMESERVER': 'TopicList',
  'answer GET_SYSTEM_TOPIC_LIST_FROM_BROKER': 'TopicList',
  'answer GET_TOPICS_BY_CLUSTER': 'TopicList',
  'answer GET_KVLIST_BY_NAMESPACE': 'KVTable',
  'answer INVOKE_BROKER_TO_RESET_OFFSET': 'ResetOffsetBody',
  'answer GET_CONSUMER_STATUS_FROM_CLIENT': 'GetConsumerStatusBody',
  'answer INVOKE_BROKER_TO_GET_CONSUMER_STATUS': 'GetConsumerStatusBody',
  'answer QUERY_TOPIC_CONSUME_BY_WHO': 'GroupList',
  'answer QUERY_CONSUME_TIME_SPAN': 'QueryConsumeTimeSpanBody',
  'answer GET_CONSUMER_RUNNING_INFO': 'ConsumerRunningInfo',
  'answer CONSUME_MESSAGE_DIRECTLY': 'ConsumeMessageDirectlyResult',
  'answer VIEW_BROKER_STATS_DATA': 'BrokerStatsData',
  'answer GET_BROKER_CONSUME_STATS': 'ConsumeStatsList',
  'answer QUERY_CONSUME_QUEUE': 'QueryConsumeQueueResponseBody',
  'answer QUERY_DATA_VERSION': 'DataVersion',
};

describe('golden: frames between real clients, brokers and name servers', () => {
  inUtc();
  const frames = golden<CapturedFrame[]>('frames.json');

  for (const frame of frames) {
    const code = nameOfCode.get(frame.code) ?? String(frame.code);
    const title = [frame.kind, code, frame.answered ?? '', frame.way, frame.serialize].join(' ').replace(/ +/g, ' ');
    it(title, () => {
      const command = decode(frame.hex);
      assert.equal(command.code, frame.answered ?? frame.code);
      assert.equal(command.isResponse, frame.kind === 'answer');
      assert.equal(command.serialize, Serialize[frame.serialize]);
      const again = encodeAgain(command, extAgain(command, frame.kind, code), bodyAgain(command, frame, code));
      assertAlike(title, again, frame.hex);
    });
  }

  it('holds the codes that a message path needs, in both header forms', () => {
    const held = new Set(
      frames.filter(({ kind }) => kind === 'request').map(({ code, serialize }) => `${code} ${serialize}`),
    );
    const wanted = [
      11, 14, 15, 17, 28, 30, 33, 34, 35, 36, 37, 38, 40, 41, 46, 103, 105, 106, 202, 206, 208, 215, 300, 310, 320,
    ];
    assert.deepEqual(
      wanted.flatMap((code) => [`${code} JSON`, `${code} ROCKETMQ`]).filter((one) => !held.has(one)),
      [],
    );
  });

  it('names no machine', () => {
    for (const { hex } of frames)
      assert.doesNotMatch(Buffer.from(hex, 'hex').toString('latin1'), /\/(tmp|home|root|work)\//);
  });

  /** Through the typed header when the code has one and the answer is more than an error. */
  function extAgain(
    command: Request,
    kind: CapturedFrame['kind'],
    code: string,
  ): Readonly<Record<string, string>> | undefined {
    const again = (kind === 'request' ? requestHeaders : answerHeaders)[code];
    if (Object.keys(command.ext).length === 0) return writesExt(command) ? {} : undefined;
    const isError =
      kind === 'answer' && command.remark !== null && !('msgId' in command.ext || 'nextBeginOffset' in command.ext);
    assert.ok(again !== undefined || isError, `no typed header for the fields of ${code}`);
    return again === undefined || isError ? command.ext : again(command.ext, command.serialize);
  }

  /** Records and inner records, from what was decoded of them. */
  function recordsAgain(command: Request, frame: CapturedFrame): Buffer | undefined {
    if (frame.kind === 'request' && frame.code === RequestCode.SEND_BATCH_MESSAGE)
      return encodeBatch(decodeBatch(command.body));
    const holdsRecords = frame.kind === 'answer' ? [11, 12, 33] : [39];
    if (!holdsRecords.includes(frame.code) || command.remark !== null) return undefined;
    const records = decodeRecords(command.body);
    assert.ok(records.length > 0);
    return Buffer.concat(
      records.map(({ bornHost, storeHost, ...rest }) => {
        const [born, bornPort] = bornHost.split(':') as [string, string];
        const [store, storePort] = storeHost.split(':') as [string, string];
        const hosts = { bornPort: Number(bornPort), storePort: Number(storePort) };
        return encodeRecord({ ...rest, ...hosts, bornAddress: addressBytes(born), storeAddress: addressBytes(store) });
      }),
    );
  }

  function bodyAgain(command: Request, frame: CapturedFrame, code: string): Buffer {
    const again = bodyCodecs[bodyOf[`${frame.kind} ${code}`] ?? ''];
    if (command.body.length === 0) return command.body;
    return again === undefined ? (recordsAgain(command, frame) ?? command.body) : again(command.body);
  }

  /** JSON headers tell an empty map from none. */
  function writesExt(command: Request): boolean {
    return command.serialize === Serialize.JSON && command.buffer.includes('"extFields":{}', 0, 'latin1');
  }

  it('are from the version that we answer as', () => {
    const versions = new Set(frames.filter(({ kind }) => kind === 'answer').map(({ hex }) => decode(hex).version));
    assert.deepEqual([...versions], [Version.current]);
  });
});
