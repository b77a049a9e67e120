import type { StoreFiles } from '../../store/files/contract.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { expireIndex } from '../../store/index/index-folder.js';
import { removeOldest } from '../../store/retention/old-segments.js';

export interface ExpireFilesArgs {
  /** The folder of the index. */
  readonly indexDir: string;
  /** The folder of the commit log. */
  readonly logDir: string;
  readonly segmentBytes: number;
  /** Physical offset of the first byte that stays; readers look at nothing below it any more. */
  readonly logMin: number;
}

/** Removes a bounded amount of what lies below the log's minimum; returns the paths or names, none when nothing is left. */
type ExpireStep = (args: ExpireFilesArgs, files: StoreFiles) => string[];

/** In this order: what points into the log goes after what it points to. Queue files are the dispatcher's own. */
const steps: readonly ExpireStep[] = [removeSegment, removeIndexFiles];

/** Removes what is below the log's minimum, a file of the log at a time. Throws the system's error; what is left is tried again. */
export default function expireFiles(args: ExpireFilesArgs, files: StoreFiles = nodeFiles): string[] {
  return steps.flatMap((step) => step(args, files));
}

function removeSegment({ logDir, segmentBytes, logMin }: ExpireFilesArgs, files: StoreFiles): string[] {
  const name = removeOldest(files, logDir, segmentBytes, logMin);
  return name === undefined ? [] : [name];
}

function removeIndexFiles({ indexDir, logMin }: ExpireFilesArgs, files: StoreFiles): string[] {
  return expireIndex(files, indexDir, logMin);
}
