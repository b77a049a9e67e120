import { statfs } from 'node:fs/promises';

/** What a file system says of its space, in bytes. */
export interface DiskUsage {
  readonly total: number;
  /** Taken, as the system counts it. */
  readonly used: number;
  /** What a program may still take; less than the rest when the system keeps some for itself. */
  readonly usable: number;
}

/** The usage of the file system that holds a path, or undefined when it cannot be told, as for a path that is missing. */
export type MeasureDisk = (path: string) => Promise<DiskUsage | undefined>;

export const measureDisk: MeasureDisk = async (path) => {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(path);
    return blocks === 0 ? undefined : { total: blocks * bsize, used: (blocks - bfree) * bsize, usable: bavail * bsize };
  } catch {
    return undefined;
  }
};

/**
 * Share of the space that is taken, in whole percent rounded up, as 0.00 to 1.00; -1 when it cannot be told. 4.9:
 * UtilAll#getDiskPartitionSpaceUsedPercent
 */
export function usedRatio(usage: DiskUsage | undefined): number {
  if (usage === undefined || usage.used + usage.usable <= 0) return -1;
  return Math.ceil((usage.used * 100) / (usage.used + usage.usable)) / 100;
}
