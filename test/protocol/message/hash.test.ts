import assert from 'node:assert/strict';
import fc from 'fast-check';
import { plainBody, withZlibFlags } from '../../../protocol/message/body.js';
import { crc32 } from '../../../protocol/message/crc.js';
import { javaHash, javaHashUtf8, tagsCodeOf } from '../../../protocol/message/hash.js';
import { deflateSync, crc32 as nativeCrc32 } from 'node:zlib';
import { KernelError } from '../../../kernel/base/errors.js';
import { ProtocolError } from '../../../protocol/errors.js';
import { SysFlag } from '../../../protocol/codes.js';
import { golden } from '../../golden/load.js';

interface Samples {
  readonly hashes: Record<string, number>;
  readonly crc32OfX: Record<string, number>;
  readonly compressed: Record<string, { readonly hex: string; readonly sysFlag: number }>;
}

describe('protocol/message: hashes, checksums, compression', () => {
  const samples = golden<Samples>('records.json');

  it('hashes strings as Java does, from text and from bytes', () => {
    for (const [text, hash] of Object.entries(samples.hashes)) {
      const bytes = Buffer.from(`<${text}>`);
      assert.equal(javaHash(text), hash);
      assert.equal(javaHashUtf8(bytes, 1, bytes.length - 1), hash);
    }
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const bytes = Buffer.from(text);
        assert.equal(javaHashUtf8(bytes, 0, bytes.length), javaHash(text));
      }),
    );
  });

  it('makes tag codes of the whole tags property; none give 0', () => {
    assert.equal(tagsCodeOf('TagA'), 2598919n);
    assert.equal(tagsCodeOf('polygenelubricants'), -2147483648n);
    assert.equal(tagsCodeOf(''), 0n);
    assert.equal(tagsCodeOf(undefined), 0n);
  });

  it('checksums as 4.9.7 does, for small and large ranges alike', () => {
    for (const [size, crc] of Object.entries(samples.crc32OfX))
      assert.equal(crc32(Buffer.alloc(Number(size), 'x')), crc);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(50), (bytes, skip) => {
        const start = Math.min(skip, bytes.length);
        assert.equal(crc32(bytes, start), nativeCrc32(bytes.subarray(start)) & 0x7fffffff);
      }),
    );
  });

  it('inflates zlib bodies, with and without the compression type of 4.9.4', () => {
    const { hex, sysFlag } = samples.compressed['ZLIB']!;
    const body = Buffer.from(hex, 'hex');
    assert.equal(sysFlag, withZlibFlags(0));
    for (const flags of [sysFlag, SysFlag.COMPRESSED])
      assert.equal(plainBody(body, flags).toString(), 'x'.repeat(5000));
    assert.equal(plainBody(body, 0), body);
  });

  it('says what it cannot read and what to do', () => {
    const { hex, sysFlag } = samples.compressed['LZ4']!;
    assert.throws(
      () => plainBody(Buffer.from(hex, 'hex'), sysFlag),
      (error: unknown) => {
        assert.ok(error instanceof KernelError);
        assert.match(error.line(), /lz4.*ZLIB/);
        return true;
      },
    );
    assert.throws(() => plainBody(Buffer.alloc(4), SysFlag.COMPRESSED | 1024), KernelError);
  });

  it('reads zstd where Node can, and says so where it cannot', () => {
    const { hex, sysFlag } = samples.compressed['ZSTD']!;
    const read = (): Buffer => plainBody(Buffer.from(hex, 'hex'), sysFlag);
    if ('zstdDecompressSync' in process.getBuiltinModule('node:zlib'))
      assert.equal(read().toString(), 'x'.repeat(5000));
    else assert.throws(read, /zstd/);
  });

  it('refuses a body that is broken or inflates beyond the bound', () => {
    assert.throws(() => plainBody(Buffer.from('no zlib'), SysFlag.COMPRESSED), ProtocolError);
    assert.throws(() => plainBody(deflateSync(Buffer.alloc(2000)), SysFlag.COMPRESSED, 1999), ProtocolError);
  });
});
