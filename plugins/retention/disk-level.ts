import { type DiskUsage, usedRatio } from '../../store/files/disk-usage.js';

/** Percent of a disk, as the settings have them. */
export interface DiskLimits {
  /** diskMaxUsedSpaceRatio. */
  readonly reclaim: number;
  /** diskSpaceCleanForciblyRatio. */
  readonly force: number;
  /** diskSpaceWarningLevelRatio. */
  readonly refuse: number;
}

export interface DiskLevel {
  /** Sends are refused. */
  readonly full: boolean;
  /** Old files go at any hour: above `reclaim`, or when a disk does not say how full it is (as in 4.9). */
  readonly reclaim: boolean;
  /** So many of the log's oldest files must go to come down to `force`; 0 when no disk is above it. */
  readonly forced: number;
}

/** 4.9: MessageStoreConfig#getDiskMaxUsedSpaceRatio takes what lies outside as the nearest. */
export function reclaimPercent(setting: number): number {
  return Math.min(95, Math.max(10, setting));
}

/**
 * What two disks ask for, which may be the same one. 4.9: CleanCommitLogService#isSpaceToDelete, #isSpaceFull. Where that deletes ten
 * files whatever is needed, these are as many as bring the log's disk below the mark; for the queues' disk the log gives up one file
 * at a time, since what that frees there is not known.
 */
export function diskLevel(
  log: DiskUsage | undefined,
  queues: DiskUsage | undefined,
  limits: DiskLimits,
  segmentBytes: number,
): DiskLevel {
  const ratios = [usedRatio(log), usedRatio(queues)];
  const above = (percent: number): boolean => ratios.some((ratio) => ratio > percent / 100);
  const forQueues = ratios[1] > limits.force / 100 ? 1 : 0;
  return {
    full: above(limits.refuse),
    reclaim: above(limits.reclaim) || ratios.some((ratio) => ratio < 0),
    forced: Math.max(forQueues, filesAbove(log, limits.force, segmentBytes)),
  };
}

function filesAbove(disk: DiskUsage | undefined, percent: number, segmentBytes: number): number {
  if (disk === undefined || usedRatio(disk) <= percent / 100) return 0;
  const excess = disk.used - ((disk.used + disk.usable) * percent) / 100;
  return Math.max(1, Math.ceil(excess / segmentBytes));
}
