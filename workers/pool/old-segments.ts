import type { StoreFiles } from '../../store/files/contract.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { segmentAges, type SegmentAge } from '../../store/retention/old-segments.js';

export interface OldSegmentsArgs {
  /** The folder of the commit log. */
  readonly dir: string;
}

/** The log's files with their ages: a call of the system for each, which a slow disk may hold. */
export default function oldSegments({ dir }: OldSegmentsArgs, files: StoreFiles = nodeFiles): SegmentAge[] {
  return segmentAges(files, dir);
}
