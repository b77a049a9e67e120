import assert from 'node:assert/strict';
import { Connections } from '../../../plugins/remoting/contract.js';
import type { RemotingServer } from '../../../plugins/remoting/server.js';
import { RequestCode } from '../../../protocol/codes.js';
import { encodeRequest, Serialize } from '../../../protocol/command.js';
import { encodeGetMaxOffset } from '../../../protocol/headers/get-max-offset.js';
import { RawClient } from '../../support/raw-client.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const good = encodeRequest({
  code: RequestCode.GET_MAX_OFFSET,
  opaque: 1,
  ext: encodeGetMaxOffset({ topic: 'T', queueId: 0 }),
});

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
}

/** A frame around a header of any bytes. */
function frame(header: Buffer | string, form: number = Serialize.JSON, headerLength?: number): Buffer {
  const bytes = Buffer.from(header);
  const word = ((form << 24) | (headerLength ?? bytes.length)) >>> 0;
  return Buffer.concat([int(4 + bytes.length), int(word), bytes]);
}

function json(extFields: string, code = '30'): Buffer {
  return frame(`{"code":${code},"opaque":1,"flag":0,"language":"JAVA","version":401,"extFields":${extFields}}`);
}

/** A binary header with the lengths given, whatever they say. */
function binary(remarkLength: number, extLength: number, ext: Buffer): Buffer {
  const head = Buffer.alloc(13);
  head.writeInt16BE(30, 0);
  head.writeInt16BE(401, 3);
  head.writeInt32BE(1, 5);
  return frame(Buffer.concat([head, int(remarkLength), int(extLength), ext]), Serialize.ROCKETMQ);
}

function field(nameLength: number, name: string, valueLength: number, value: string): Buffer {
  const short = Buffer.alloc(2);
  short.writeInt16BE(nameLength);
  return Buffer.concat([short, Buffer.from(name), int(valueLength), Buffer.from(value)]);
}

const deep = (open: string, close: string): string => open.repeat(10_000) + close.repeat(10_000);
const manyFields = `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":"v"`).join()}}`;

/** Those that can only be closed. */
const closing: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['frame length 0', int(0)],
  ['frame length 3', Buffer.concat([int(3), Buffer.alloc(3)])],
  ['frame length -1', int(-1)],
  ['frame length 2^31 - 1', int(0x7fffffff)],
  ['frame length 16,777,217', int(16_777_217)],
  ['a frame of 16 MiB and one byte in all', int(16_777_213)],
  ['header length beyond the frame', frame('{"code":30}', Serialize.JSON, 12)],
  ['header length 0xFFFFFF', frame('{"code":30}', Serialize.JSON, 0xffffff)],
  ['header length 0', frame('')],
  ...[2, 3, 77, 255].map((form) => [`header form ${form}`, frame('{"code":30}', form)] as const),
  ['JSON null', frame('null')],
  ['JSON array', frame('[]')],
  ['JSON string', frame('"x"')],
  ['JSON number', frame('12')],
  ['cut JSON', frame('{"code":30')],
  ['a code that is no number', frame('{"code":"a"}')],
  ['a code with a fraction', frame('{"code":1.5}')],
  ['a remark that is no string', frame('{"code":30,"remark":{}}')],
  ['extFields that are an array', json('[]')],
  ['a field that is an object', json('{"topic":{}}')],
  ['a prototype as a field', json('{"__proto__":{"polluted":"yes"}}')],
  ['1,000,000 fields', json(manyFields)],
  ['600 fields', json(`{${Array.from({ length: 600 }, (_, i) => `"k${i}":"v"`).join()}}`)],
  ['depth 10,000', json(deep('[', ']'))],
  ['no binary header', frame(Buffer.alloc(20), Serialize.ROCKETMQ)],
  ['a binary remark longer than the header', binary(1000, 0, Buffer.alloc(0))],
  ['a negative binary remark', binary(-1, 0, Buffer.alloc(0))],
  ['binary fields longer than the header', binary(0, 100, Buffer.alloc(0))],
  ['negative binary fields', binary(0, -1, Buffer.alloc(0))],
  ['a negative name length', binary(0, 12, field(-1, 'topic', 1, 'T'))],
  ['a negative value length', binary(0, 12, field(5, 'topic', -1, 'T'))],
  ['a value longer than the map', binary(0, 12, field(5, 'topic', 2, 'T'))],
  ['a name longer than the map', binary(0, 12, field(500, 'topic', 1, 'T'))],
  ['a map without a value', binary(0, 7, field(5, 'topic', 0, '').subarray(0, 7))],
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: broker\r\n\r\n')],
  ['a TLS hello', Buffer.from('16030100f4010000f00303', 'hex')],
  ['random bytes', Buffer.from('deadbeefcafebabe0102030405060708', 'hex')],
];

/** Those that are answered, in whatever way. */
const answered: readonly (readonly [name: string, bytes: Buffer, code: number])[] = [
  ['an unknown code', json('{}', '9999'), 3],
  ['a negative code', json('{}', '-7'), 3],
  ['no code at all', frame('{"opaque":1}'), 3],
  ['no fields at all', json('null'), 1],
  ['a field that is missing', json('{"topic":"T"}'), 1],
  ['fields named as a prototype has them', json('{"__proto__":"x","constructor":"y","topic":"T","queueId":"0"}'), 0],
  ['duplicate keys', json('{"topic":"A","topic":"T","queueId":"9","queueId":"0"}'), 0],
  [
    'invalid UTF-8',
    frame(
      Buffer.concat([
        Buffer.from('{"code":9998,"opaque":1,"remark":"'),
        Buffer.from('ff80c0', 'hex'),
        Buffer.from('"}'),
      ]),
    ),
    3,
  ],
  ['depth 10,000 beside the fields', frame(`{"code":9998,"opaque":1,"x":${deep('[', ']')}}`), 3],
  ['an unknown language', frame('{"code":9998,"opaque":1,"language":"KLINGON"}'), 3],
  [
    'binary fields with an empty value',
    binary(0, 21, Buffer.concat([field(5, 'topic', 0, ''), field(2, 'qi', 2, '10')])),
    1,
  ],
];

describe('malformed frames (B37)', () => {
  let broker: TestBroker;
  let server: RemotingServer;
  let other: RawClient;

  before(async () => {
    broker = await testBroker();
    server = broker.get(Connections) as RemotingServer;
    other = await broker.connect();
  });

  after(async () => {
    other[Symbol.dispose]();
    await broker.stop();
  });

  afterEach(async () => {
    const { code } = await other.ask(RequestCode.GET_MAX_OFFSET, {
      ext: encodeGetMaxOffset({ topic: 'T', queueId: 0 }),
    });
    assert.equal(code, 0, 'another client is served as before');
    await until(() => server.budget.heldBytes === 0, 'nothing is held of what was cut');
    assert.equal(({} as { polluted?: string }).polluted, undefined);
  });

  const warnings = (): number => broker.lines.filter(({ message }) => message.includes('malformed frame')).length;

  for (const [name, bytes] of closing)
    it(`${name}: closed, with one line in the log`, async () => {
      const before = warnings();
      using client = await broker.connect();
      client.write(bytes);
      await client.closed;
      assert.equal(client.bytesRead, 0);
      assert.equal(warnings(), before + 1);
    });

  for (const [name, bytes, code] of answered)
    it(`${name}: answered ${code}`, async () => {
      using client = await broker.connect();
      client.write(bytes);
      await until(() => client.strays.length === 1, 'the answer');
      assert.deepEqual([client.strays[0].code, client.strays[0].opaque], [code, 1]);
      client.write(good);
      await until(() => client.strays.length === 2, 'the connection goes on');
    });

  it('a good frame before a bad one in the same chunk is answered', async () => {
    using client = await broker.connect();
    client.write(Buffer.concat([good, int(-1), good]));
    await client.closed;
    assert.deepEqual(
      client.strays.map(({ code }) => code),
      [0],
    );
  });

  it('a valid frame cut at each byte holds nothing once its client is gone', async () => {
    for (let cut = 1; cut < good.length; cut++) {
      using client = await broker.connect();
      client.write(good.subarray(0, cut));
      await until(() => server.budget.heldBytes === cut, `${cut} bytes are held`);
      if (cut % 2 === 0) client.reset();
      else client.socket.end();
      await client.closed;
      await until(() => server.budget.heldBytes === 0, 'they are given back');
    }
  });

  it('a valid frame in two pieces, wherever it is cut, is answered', async () => {
    using client = await broker.connect();
    for (let cut = 1; cut < good.length; cut++) {
      client.write(good.subarray(0, cut));
      await until(() => server.budget.heldBytes === cut, 'the first piece arrived');
      client.write(good.subarray(cut));
      await until(() => client.strays.length === cut, `cut at ${cut}`);
    }
    assert.ok(client.strays.every(({ code }) => code === 0));
  });

  it('B31 a frame of exactly 16 MiB is read', async () => {
    const ext = encodeGetMaxOffset({ topic: 'T', queueId: 0 });
    const head = encodeRequest({ code: RequestCode.GET_MAX_OFFSET, opaque: 1, ext }).length;
    using client = await broker.connect();
    const { code } = await client.ask(RequestCode.GET_MAX_OFFSET, { ext, body: Buffer.alloc(16_777_216 - head) });
    assert.equal(code, 0);
  });

  it('an announced frame of 16 MiB costs no memory before its bytes arrive', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const clients = await Promise.all(Array.from({ length: 40 }, () => broker.connect()));
    for (const client of clients) client.write(Buffer.concat([int(16_777_212), Buffer.alloc(100)]));
    await until(() => server.budget.heldBytes === 40 * 104, 'all of them are held');
    assert.ok(process.memoryUsage().arrayBuffers - before < 16 << 20);
    for (const client of clients) client[Symbol.dispose]();
  });
});
