import * as zlib from 'node:zlib';
import { KernelError } from '../../kernel/base/errors.js';
import { SysFlag } from '../codes.js';
import { ProtocolError } from '../errors.js';

/** No body inflates beyond this; the largest a producer may send by default is 4 MiB. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Newer Node releases bring zstd along. */
const zstdDecompress = (zlib as { zstdDecompressSync?: (data: Uint8Array, options: object) => Buffer })
  .zstdDecompressSync;

/**
 * The body as the producer gave it. Bodies without a compression type are zlib: clients before 4.9.4 know no other. Throws
 * KernelError for a type this process cannot read, ProtocolError for bytes that do not inflate within `bytesMax`.
 */
export function plainBody(body: Buffer, sysFlag: number, bytesMax = BODY_BYTES_MAX): Buffer {
  if ((sysFlag & SysFlag.COMPRESSED) === 0) return body;
  const type = sysFlag & SysFlag.COMPRESSION_MASK;
  switch (type) {
    case 0:
    case SysFlag.COMPRESSION_ZLIB:
      return inflated(() => zlib.inflateSync(body, { maxOutputLength: bytesMax }));
    case SysFlag.COMPRESSION_ZSTD:
      if (zstdDecompress !== undefined) return inflated(() => zstdDecompress(body, { maxOutputLength: bytesMax }));
      throw unsupported('zstd');
    case SysFlag.COMPRESSION_LZ4:
      throw unsupported('lz4');
    default:
      throw unsupported(`unknown (${type >> 8})`);
  }
}

/** Sets the compression bits for a zlib body. 4.9: MessageSysFlag#getCompressionType. */
export function withZlibFlags(sysFlag: number): number {
  return (sysFlag & ~SysFlag.COMPRESSION_MASK) | SysFlag.COMPRESSED | SysFlag.COMPRESSION_ZLIB;
}

function inflated(inflate: () => Buffer): Buffer {
  try {
    return inflate();
  } catch (error) {
    throw new ProtocolError('compressed message body does not inflate', { cause: error });
  }
}

function unsupported(type: string): KernelError {
  return new KernelError(
    'COMPRESSION_UNSUPPORTED',
    `message body is compressed by ${type}, which this process cannot read`,
    {
      remedy: 'let the producer compress by ZLIB (rocketmq.message.compressType=ZLIB)',
    },
  );
}
