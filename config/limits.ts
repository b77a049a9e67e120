import { INT_MAX } from './declare.js';
import { ExitCode, KernelError } from '../kernel/base/errors.js';
import type { Options } from './options.js';

/** 4.9: CommitLog.MessageExtEncoder keeps 64 KiB for everything of a record that is not its body. */
export const RECORD_OVERHEAD_BYTES = 64 * 1024;
/** 4.9: NettyDecoder's largest frame. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/** 4.9: CqExtUnit.MAX_EXT_UNIT_SIZE. */
const EXT_UNIT_BYTES_MAX = 32_767;

interface Relation {
  readonly holds: (options: Options) => boolean;
  readonly says: (options: Options) => string;
}

function isPowerOfTwo(value: number): boolean {
  return value > 0 && Number.isInteger(Math.log2(value));
}

/** 4.9: IndexFile's constructor, whose sizes are ints. */
const indexFileBytes = (o: Options): number => 40 + 4 * o.maxHashSlotNum + 20 * o.maxIndexNum;
const recordBytesMax = (options: Options): number => options.maxMessageSize + RECORD_OVERHEAD_BYTES;

/** What must hold between settings; each by itself is checked where it is declared. */
const relations: readonly Relation[] = [
  {
    holds: (o) => isPowerOfTwo(o.ringSlots),
    says: (o) => `ringSlots ${o.ringSlots} is not a power of two`,
  },
  {
    holds: (o) => o.ringBytes >= 2 * recordBytesMax(o),
    says: (o) =>
      `ringBytes ${o.ringBytes} does not hold two of the largest records: set at least ${2 * recordBytesMax(o)}, or a smaller maxMessageSize`,
  },
  {
    holds: (o) => recordBytesMax(o) <= FRAME_BYTES_MAX,
    says: (o) =>
      `maxMessageSize ${o.maxMessageSize} does not fit a frame: at most ${FRAME_BYTES_MAX - RECORD_OVERHEAD_BYTES}`,
  },
  {
    holds: (o) => o.outboundBytesMax >= o.maxTransferBytesOnMessageInMemory + recordBytesMax(o),
    says: (o) =>
      `outboundBytesMax ${o.outboundBytesMax} does not hold one pull answer: set at least ${o.maxTransferBytesOnMessageInMemory + recordBytesMax(o)}`,
  },
  {
    holds: (o) => o.mappedFileSizeConsumeQueueExt >= 24 + o.bitMapLengthConsumeQueueExt / 8,
    says: (o) =>
      `mappedFileSizeConsumeQueueExt ${o.mappedFileSizeConsumeQueueExt} does not hold one unit with filter bits of ${o.bitMapLengthConsumeQueueExt / 8} bytes`,
  },
  {
    holds: (o) => 20 + o.bitMapLengthConsumeQueueExt / 8 <= EXT_UNIT_BYTES_MAX,
    says: (o) =>
      `filter bits of ${o.bitMapLengthConsumeQueueExt / 8} bytes do not fit one unit of enableConsumeQueueExt: set a smaller expectConsumerNumUseFilter or a larger maxErrorRateOfBloomFilter`,
  },
  {
    holds: (o) => !o.memory || o.memoryStoreBytesMax >= 2 * o.mappedFileSizeCommitLog,
    says: (o) =>
      `memoryStoreBytesMax ${o.memoryStoreBytesMax} does not hold two files of mappedFileSizeCommitLog ${o.mappedFileSizeCommitLog}`,
  },
  {
    holds: (o) => indexFileBytes(o) <= INT_MAX,
    says: (o) =>
      `an index file of maxHashSlotNum ${o.maxHashSlotNum} and maxIndexNum ${o.maxIndexNum} has ${indexFileBytes(o)} bytes: at most ${INT_MAX}`,
  },
  {
    holds: (o) => o.diskSpaceCleanForciblyRatio <= o.diskSpaceWarningLevelRatio,
    says: (o) =>
      `diskSpaceCleanForciblyRatio ${o.diskSpaceCleanForciblyRatio} is above diskSpaceWarningLevelRatio ${o.diskSpaceWarningLevelRatio}: sends would be refused before anything is deleted`,
  },
];

/** Throws KernelError (exit code 2) with every relation that does not hold. */
export function checkLimits(options: Options): void {
  const broken = relations.filter((relation) => !relation.holds(options)).map((relation) => relation.says(options));
  if (broken.length > 0) throw new KernelError('LIMITS', broken.join('; '), { exitCode: ExitCode.usage });
}
