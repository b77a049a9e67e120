import { nodeFiles } from '../../store/files/node-files.js';

export interface MakeSegmentArgs {
  readonly path: string;
  readonly bytes: number;
  /** Above 0 the zeros are written and synced each time so many are; else the file is sparse. */
  readonly touchBytes: number;
}

/** Makes a whole segment on a pool thread, so that neither the network nor the log's writer waits for it. */
export default function makeSegment({ path, bytes, touchBytes }: MakeSegmentArgs): void {
  nodeFiles.makeAhead(path, bytes, touchBytes);
}
