import { RequestCode } from '../../../protocol/codes.js';
import { encodeRequest, Serialize } from '../../../protocol/command.js';
import type { BadFrame } from './bad-frames.js';

const FRAME_BYTES_MAX = 16_777_216;
const LENGTH_BYTES = 4;

/** B37: the malformed frames that have hurt brokers before, each once. */
export function structuredFrames(): BadFrame[] {
  return [...lengths(), ...headerWords(), ...jsonHeaders(), ...binaryHeaders(), ...otherProtocols(), ...everyCut()];
}

function lengths(): BadFrame[] {
  return [0, 3, -1, 0x7fffffff, FRAME_BYTES_MAX + 1, -0x80000000].map((length) => {
    return { what: `frame length ${length}`, bytes: int32(length), expects: 'closes' };
  });
}

function headerWords(): BadFrame[] {
  const types = Array.from({ length: 254 }, (_, i) => i + 2);
  return [
    ...[1, 0xffffff].map((size) => closing(`header of ${size} bytes in a frame of 4`, int32(size))),
    ...types.map((type) => closing(`header type ${type}`, Buffer.concat([int32((type << 24) | 2), Buffer.from('{}')]))),
    any('header of 0 bytes', int32(0)),
  ];
}

/** Whatever its parts are, a JSON header stays one header: nothing of it may reach another request. */
function jsonHeaders(): BadFrame[] {
  const send = `"code":${RequestCode.GET_MAX_OFFSET},"opaque":1`;
  const texts: readonly (readonly [what: string, text: string | Buffer])[] = [
    ['null', 'null'],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['a number', '1'],
    ['nothing', '{}'],
    ['a code that is text', '{"code":"a"}'],
    ['a code that is a float', '{"code":1.5}'],
    ['a huge code', '{"code":1e300}'],
    ['extFields that are an array', `{${send},"extFields":[]}`],
    ['extFields that are text', `{${send},"extFields":"x"}`],
    ['a field that is an object', `{${send},"extFields":{"topic":{"a":1}}}`],
    ['__proto__ as header', `{${send},"__proto__":{"extFields":{"topic":"T","queueId":"0"}}}`],
    ['__proto__ as field', `{${send},"extFields":{"__proto__":{"topic":"T","queueId":"0"}}}`],
    ['constructor as field', `{${send},"extFields":{"constructor":"x","prototype":"y","toString":"z"}}`],
    ['the same name twice', `{${send},"code":10,"extFields":{"topic":"a","topic":"b"}}`],
    ['depth 10,000', `{${send},"extFields":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
    ['depth 10,000 of arrays', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['1,000,000 fields', `{${send},"extFields":{${fields(1_000_000)}}}`],
    ['513 fields', `{${send},"extFields":{${fields(513)}}}`],
    ['an unclosed string', `{${send},"remark":"`],
    ['an escape at its end', `{${send},"remark":"\\`],
    ['half a surrogate', `{${send},"remark":"\\ud800"}`],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from(`{${send},"remark":"`), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]),
    ],
    ['a NUL', `{${send},"remark":"\u0000"}`],
  ];
  return texts.map(([what, text]) => any(`JSON header: ${what}`, withHeader(Serialize.JSON, Buffer.from(text))));
}

function fields(count: number): string {
  return Array.from({ length: count }, (_, i) => `"${i}":"v"`).join();
}

/** int16 code, uint8 language, int16 version, int32 opaque, int32 flag, int32 remark length, int32 ext length, ext. */
function binaryHeaders(): BadFrame[] {
  const head = Buffer.alloc(13);
  head.writeInt16BE(RequestCode.GET_MAX_OFFSET, 0);
  const header = (what: string, remark: number, ...rest: readonly Buffer[]): BadFrame =>
    closing(`binary header: ${what}`, withHeader(Serialize.ROCKETMQ, Buffer.concat([head, int32(remark), ...rest])));
  return [
    closing('binary header: too short', withHeader(Serialize.ROCKETMQ, head)),
    header('remark of -1 bytes', -1, int32(0)),
    header('remark longer than all', 0x7fffffff, int32(0)),
    header('fields of -1 bytes', 0, int32(-1)),
    header('fields longer than all', 0, int32(100)),
    header('a name of -1 bytes', 0, int32(8), Buffer.from([0xff, 0xff]), int32(0), Buffer.alloc(2)),
    header('a name longer than all', 0, int32(6), Buffer.from([0x7f, 0xff]), int32(0)),
    header('a value of -1 bytes', 0, int32(7), Buffer.from([0, 1, 97]), int32(-1)),
    header('a name without a value', 0, int32(3), Buffer.from([0, 1, 97])),
    header('half a length', 0, int32(1), Buffer.from([0])),
  ];
}

function otherProtocols(): BadFrame[] {
  const http = Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const tls = Buffer.from('16030100c8010000c40303', 'hex');
  return [
    { what: 'an HTTP request', bytes: http, expects: 'closes' },
    { what: 'a TLS hello', bytes: tls, expects: 'closes' },
  ];
}

/** A good frame, cut off after each of its bytes. */
function everyCut(): BadFrame[] {
  return [Serialize.JSON, Serialize.ROCKETMQ].flatMap((serialize) => {
    const ext = { topic: 'T', queueId: '0' };
    const frame = encodeRequest({ code: RequestCode.GET_MAX_OFFSET, opaque: 1, serialize, ext });
    return Array.from({ length: frame.length - 1 }, (_, i): BadFrame => {
      return { what: `cut after ${i + 1} bytes`, bytes: frame.subarray(0, i + 1), expects: 'unfinished' };
    });
  });
}

function withHeader(serialize: Serialize, header: Buffer): Buffer {
  return Buffer.concat([int32((serialize << 24) | header.length), header]);
}

function any(what: string, payload: Buffer): BadFrame {
  return { what, bytes: framed(payload), expects: 'any' };
}

function closing(what: string, payload: Buffer): BadFrame {
  return { what, bytes: framed(payload), expects: 'closes' };
}

function framed(payload: Buffer): Buffer {
  return Buffer.concat([int32(payload.length), payload]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeInt32BE(value | 0, 0);
  return bytes;
}
