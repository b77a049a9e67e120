import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LanguageCode } from '../../protocol/codes.js';
import {
  decodeCommand,
  encodeRequest,
  encodeResponse,
  encodeResponseHeader,
  ProtocolError,
  Serialize,
  type Request,
} from '../../protocol/command.js';

function decoded(frame: Buffer): Request {
  return decodeCommand(frame, 4, frame.length);
}

/** The part of a frame after its length word, from a header type and header bytes. */
function commandOf(type: number, header: string | Buffer, headerBytes?: number): Buffer {
  const bytes = Buffer.from(header as string);
  const word = Buffer.alloc(4);
  word.writeUInt32BE(((type << 24) | (headerBytes ?? bytes.length)) >>> 0);
  return Buffer.concat([word, bytes]);
}

function decodeBytes(bytes: Buffer): Request {
  return decodeCommand(bytes, 0, bytes.length);
}

function refused(bytes: Buffer): void {
  assert.throws(() => decodeBytes(bytes), ProtocolError);
}

function binaryHeader(remarkBytes: number, extBytes: number, ext: Buffer): Buffer {
  const fixed = Buffer.alloc(21);
  fixed.writeInt16BE(310, 0);
  fixed.writeInt32BE(9, 5);
  fixed.writeInt32BE(remarkBytes, 13);
  fixed.writeInt32BE(extBytes, 17);
  return Buffer.concat([fixed, ext]);
}

function entry(name: string, valueBytes: number, value: string): Buffer {
  const bytes = Buffer.alloc(6 + name.length + value.length);
  bytes.writeInt16BE(name.length, 0);
  bytes.write(name, 2);
  bytes.writeInt32BE(valueBytes, 2 + name.length);
  bytes.write(value, 6 + name.length);
  return bytes;
}

describe('protocol/command', () => {
  for (const serialize of Object.values(Serialize)) {
    it(`brings back what was written, header form ${serialize}`, () => {
      const int = fc.integer({ min: -2147483648, max: 2147483647 });
      const name = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/^\d+$/.test(text));
      const ext = fc.dictionary(name, fc.string({ minLength: 1, unit: 'binary' }), { noNullPrototype: false });
      const shape = {
        code: fc.integer({ min: 0, max: 32767 }),
        opaque: int,
        ext,
        oneway: fc.boolean(),
        body: fc.uint8Array(),
      };
      fc.assert(
        fc.property(
          fc.record(shape),
          fc.option(fc.string({ minLength: 1 })),
          ({ code, opaque, ext, oneway, body }, remark) => {
            const request = decoded(
              encodeRequest({ code, opaque, ext, oneway, body, remark, serialize, language: LanguageCode.GO }),
            );
            assert.deepEqual(
              [
                request.code,
                request.opaque,
                request.oneway,
                request.isResponse,
                request.remark,
                request.language,
                request.version,
              ],
              [code, opaque, oneway, false, remark, LanguageCode.GO, 407],
            );
            const text = (value: string): string => Buffer.from(value).toString();
            const wanted = Object.entries(ext).map(([key, value]) => [text(key), text(value)]);
            assert.deepEqual(new Map(Object.entries(request.ext)), new Map(wanted as [string, string][]));
            assert.ok(request.body.equals(body));
          },
        ),
      );
    });

    it(`answers in the form asked, as Java 407, header form ${serialize}`, () => {
      const frame = encodeResponse(
        { opaque: 12, serialize },
        { code: 19, remark: 'nichts 没有', ext: { a: '1' }, body: Buffer.from('b') },
      );
      const answer = decoded(frame);
      assert.deepEqual(
        [
          answer.code,
          answer.opaque,
          answer.isResponse,
          answer.oneway,
          answer.remark,
          answer.language,
          answer.version,
          answer.serialize,
        ],
        [19, 12, true, false, 'nichts 没有', 0, 407, serialize],
      );
      const header = encodeResponseHeader(
        { opaque: 12, serialize },
        { code: 19, remark: 'nichts 没有', ext: { a: '1' } },
        1,
      );
      assert.ok(Buffer.concat([header, Buffer.from('b')]).equals(frame));
    });
  }

  it('does not copy the body and gives an empty one when there is none', () => {
    const request = decoded(encodeRequest({ code: 1, opaque: 1, body: Buffer.from('body') }));
    assert.equal(request.body.buffer, request.buffer.buffer);
    assert.equal(decoded(encodeRequest({ code: 1, opaque: 1 })).body.length, 0);
  });

  it('tells no header fields from an empty map in JSON, as an answer with a header class has it', () => {
    const text = (frame: Buffer): string => frame.toString('utf8', 8);
    const to = { opaque: 3, serialize: Serialize.JSON };
    assert.equal(
      text(encodeResponse(to, { code: 0 })),
      '{"code":0,"flag":1,"language":"JAVA","opaque":3,"serializeTypeCurrentRPC":"JSON","version":407}',
    );
    assert.equal(
      text(encodeResponse(to, { code: 0, ext: {} })),
      '{"code":0,"extFields":{},"flag":1,"language":"JAVA","opaque":3,"serializeTypeCurrentRPC":"JSON","version":407}',
    );
  });

  it('is lenient where fastjson is: missing members, digits in quotes, values that are no strings', () => {
    const request = decodeBytes(
      commandOf(0, '{"code":"10","extFields":{"a":5,"b":true,"c":null,"d":"x"},"language":null}'),
    );
    assert.deepEqual([request.code, request.opaque, request.flag, request.version, request.language], [10, 0, 0, 0, 0]);
    assert.deepEqual({ ...request.ext }, { a: '5', b: 'true', d: 'x' });
    assert.equal(decodeBytes(commandOf(0, '{"code":1,"language":"KOTLIN"}')).language, LanguageCode.OTHER);
    assert.equal(decodeBytes(commandOf(0, '{"code":1,"language":"constructor"}')).language, LanguageCode.OTHER);
  });

  it('keeps hostile names out of any prototype (B37)', () => {
    const json = '{"code":1,"extFields":{"__proto__":"p","constructor":"c","toString":"t"},"__proto__":{"flag":2}}';
    const binary = Buffer.concat([entry('__proto__', 1, 'p'), entry('constructor', 1, 'c'), entry('toString', 1, 't')]);
    for (const request of [
      decodeBytes(commandOf(0, json)),
      decodeBytes(commandOf(1, binaryHeader(0, binary.length, binary))),
    ]) {
      assert.equal(Object.getPrototypeOf(request.ext), null);
      assert.deepEqual(Object.entries(request.ext), [
        ['__proto__', 'p'],
        ['constructor', 'c'],
        ['toString', 't'],
      ]);
      assert.equal(request.flag, 0);
    }
    assert.equal(({} as Record<string, unknown>)['p'], undefined);
    assert.equal(decodeBytes(commandOf(0, '{"code":1}')).ext['toString'], undefined);
  });

  it('takes the last of equal names', () => {
    assert.equal(decodeBytes(commandOf(0, '{"code":1,"extFields":{"a":"1","a":"2"}}')).ext['a'], '2');
    const twice = Buffer.concat([entry('a', 1, '1'), entry('a', 1, '2')]);
    assert.equal(decodeBytes(commandOf(1, binaryHeader(0, twice.length, twice))).ext['a'], '2');
  });

  it('takes an empty binary field as missing, as 4.9 does', () => {
    const ext = Buffer.concat([entry('a', 0, ''), entry('', 1, 'x'), entry('b', 1, 'y')]);
    assert.deepEqual({ ...decodeBytes(commandOf(1, binaryHeader(0, ext.length, ext))).ext }, { b: 'y' });
  });

  describe('refuses (B37)', () => {
    for (const header of [
      '',
      'null',
      '[]',
      '"x"',
      '1',
      '{',
      '{"code":"a"}',
      '{"code":1.5}',
      '{"code":{}}',
      '{"code":1,"opaque":"1 "}',
    ]) {
      it(`the JSON header ${header || 'of no bytes'}`, () => refused(commandOf(0, header)));
    }
    for (const header of [
      '{"code":1,"extFields":[]}',
      '{"code":1,"extFields":"x"}',
      '{"code":1,"extFields":{"a":{}}}',
    ]) {
      it(`the JSON header ${header}`, () => refused(commandOf(0, header)));
    }
    it('JSON with a remark or language of the wrong kind', () => {
      refused(commandOf(0, '{"code":1,"remark":5}'));
      refused(commandOf(0, '{"code":1,"language":{}}'));
    });

    it('a million JSON header fields, before it builds them', () => {
      const fields = Array.from({ length: 1_000_000 }, (_, index) => `"${index}":"1"`).join(',');
      refused(commandOf(0, `{"code":1,"extFields":{${fields}}}`));
    });

    it('more fields than any command has', () => {
      const names = Array.from({ length: 600 }, (_, index) => `n${index}`);
      refused(commandOf(0, `{"code":1,"extFields":{${names.map((name) => `"${name}":"1"`).join(',')}}}`));
      const ext = Buffer.concat(names.map((name) => entry(name, 1, '1')));
      refused(commandOf(1, binaryHeader(0, ext.length, ext)));
    });

    for (const type of [2, 3, 127, 128, 255]) {
      it(`header type ${type}`, () => refused(commandOf(type, '{"code":1}')));
    }

    it('a header longer than its frame', () => {
      refused(commandOf(0, '{"code":1}', 11));
      refused(commandOf(0, '{"code":1}', 0xffffff));
      refused(commandOf(1, binaryHeader(0, 0, Buffer.alloc(0)), 22));
    });

    it('a frame too short for a header length', () => {
      for (let bytes = 0; bytes < 4; bytes++) refused(Buffer.alloc(bytes));
    });

    it('binary lengths that are negative or pass the header', () => {
      const nothing = Buffer.alloc(0);
      for (const remarkBytes of [-1, 1, 0x7fffffff, -2147483648])
        refused(commandOf(1, binaryHeader(remarkBytes, 0, nothing)));
      for (const extBytes of [-1, 1, 0x7fffffff]) refused(commandOf(1, binaryHeader(0, extBytes, nothing)));
      for (const valueBytes of [-1, 2, 0x7fffffff]) {
        const ext = entry('a', valueBytes, 'x');
        refused(commandOf(1, binaryHeader(0, ext.length, ext)));
      }
      const negativeName = Buffer.from([0xff, 0xff, 0, 0, 0, 0, 0]);
      refused(commandOf(1, binaryHeader(0, negativeName.length, negativeName)));
      const longName = Buffer.from([0x7f, 0xff, 0, 0, 0, 0, 0]);
      refused(commandOf(1, binaryHeader(0, longName.length, longName)));
    });

    it('a map without its value', () => {
      for (const ext of [Buffer.from([0]), Buffer.from([0, 1, 0x61]), entry('a', 1, 'x').subarray(0, 6)]) {
        refused(commandOf(1, binaryHeader(0, ext.length, ext)));
      }
    });

    it('a good command cut anywhere in its header, and never reads beyond its end', () => {
      for (const serialize of Object.values(Serialize)) {
        const frame = encodeRequest({ code: 310, opaque: 1, ext: { a: 'group', b: 'topic' }, serialize });
        for (let end = 4; end < frame.length; end++) assert.throws(() => decodeCommand(frame, 4, end), ProtocolError);
      }
    });

    it('hellos of other protocols', () => {
      refused(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
      refused(Buffer.from('160301020001000001fc0303', 'hex'));
    });
  });

  it('reads a plain JSON header from its bytes as JSON.parse does, also a broken one', () => {
    const text = encodeRequest({
      code: 310,
      opaque: 12,
      ext: { a: 'group', i: 'k\u0001v\u0002é"\\/主😀', n: '' },
      remark: 'r\n',
      language: LanguageCode.GO,
    }).toString('utf8', 8);
    const outcome = (header: Buffer): unknown => {
      try {
        const { code, flag, opaque, version, language, remark, ext } = decodeBytes(commandOf(0, header));
        return { code, flag, opaque, version, language, remark, ext: Object.entries(ext) };
      } catch (error) {
        assert.ok(error instanceof ProtocolError, String(error));
        return 'refused';
      }
    };
    // A space before it is a shape that only JSON.parse reads.
    const same = (header: Buffer): void =>
      assert.deepEqual(outcome(header), outcome(Buffer.concat([Buffer.from(' '), header])), header.toString());
    const bytes = Buffer.from(text);
    same(bytes);
    assert.ok(decodeBytes(commandOf(0, bytes)).jsonExtEnd > 0);
    const letters = fc.constantFrom(...Buffer.from('"\\{}[]:,0123456789abcu-. \n\t\u0001'), 0x7f, 0x80, 0xff);
    const edits = fc.array(fc.tuple(fc.nat(bytes.length - 1), letters), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(edits, fc.boolean(), (changes, insert) => {
        const parts = [...bytes];
        for (const [at, byte] of changes) parts.splice(at, insert ? 0 : 1, byte);
        same(Buffer.from(parts));
      }),
      { numRuns: 1000 },
    );
    for (const header of [
      '{"code":1,"code":2,"extFields":{"a":"1"},"extFields":{"b":"2"}}',
      '{"code":1,"extFields":{"a":"\\ud83d\\ude00\\ud83d\\u0041\\/\\b\\f\\r\\t\\n"}}',
      '{"code":-5,"opaque":-0,"version":007}',
      '{"code":2147483647,"opaque":999999999}',
      '{"code":1}x',
      '{}',
    ])
      same(Buffer.from(header));
  });

  it('survives invalid UTF-8, and JSON nested 10,000 deep is no more than an error', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"code":1,"extFields":{"a":"'),
      Buffer.from([0xff, 0xc0]),
      Buffer.from('"}}'),
    ]);
    assert.equal(decodeBytes(commandOf(0, bytes)).ext['a'], '\ufffd\ufffd');
    refused(commandOf(0, `{"code":1,"extFields":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`));
  });

  it('any bytes give a command or a ProtocolError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(0, 1), (bytes, type) => {
        const command = Buffer.concat([commandOf(type, Buffer.from(bytes))]);
        try {
          assert.equal(typeof decodeBytes(command).ext, 'object');
        } catch (error) {
          assert.ok(error instanceof ProtocolError);
        }
      }),
    );
  });

  it('does not write a code that the binary header cannot hold', () => {
    assert.throws(() => encodeRequest({ code: 40000, opaque: 1, serialize: Serialize.ROCKETMQ }), RangeError);
  });
});
