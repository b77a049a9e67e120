import { nodeFiles } from '../../store/files/node-files.js';

/** Arguments of the task: the whole content of one file. */
export interface WriteFileArgs {
  readonly path: string;
  readonly content: string;
  readonly keepBackup: boolean;
}

/** Replaces a file durably on a pool thread, so that no sync holds the network thread. Throws the system's error. */
export default function writeFile(args: WriteFileArgs): void {
  nodeFiles.replace(args.path, args.content, args.keepBackup);
}
