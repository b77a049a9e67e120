import assert from 'node:assert/strict';
import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { copyBytes, viewOf } from '../../../protocol/copy.js';
import { copyWithCrc, crc32 } from '../../../protocol/message/crc.js';

/** Short ones, and those around the sizes from which native code takes over. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.uint8Array({ minLength: 500, maxLength: 520 }),
  fc.uint8Array({ minLength: 1020, maxLength: 1030 }),
);
const margin = fc.nat(9);

describe('protocol/message/crc', () => {
  it('is the CRC-32 of zlib without its top bit, wherever the bytes lie', () => {
    fc.assert(
      fc.property(bytes, margin, (content, before) => {
        const buffer = Buffer.concat([Buffer.alloc(before, 7), content, Buffer.alloc(3, 9)]);
        assert.equal(crc32(buffer, before, before + content.length), zlibCrc32(content) & 0x7fffffff);
      }),
    );
  });

  const copies = {
    copyWithCrc,
    copyBytes: (...args: Parameters<typeof copyBytes>) => {
      assert.equal(copyBytes(...args), args[2] - args[1]);
      return undefined;
    },
  };
  for (const [name, copy] of Object.entries(copies))
    it(`${name} copies just these bytes`, () => {
      fc.assert(
        fc.property(bytes, margin, margin, (content, before, at) => {
          const source = Buffer.concat([Buffer.alloc(before, 7), content, Buffer.alloc(3, 9)]);
          const target = Buffer.from(new SharedArrayBuffer(content.length + 20)).fill(1);
          const crc = copy(viewOf(source), before, before + content.length, viewOf(target), at);
          const wanted = Buffer.concat([Buffer.alloc(at, 1), content, Buffer.alloc(20 - at, 1)]);
          assert.deepEqual(target, wanted);
          if (crc !== undefined) assert.equal(crc, zlibCrc32(content) & 0x7fffffff);
        }),
      );
    });
});
