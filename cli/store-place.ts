import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadOptions } from '../config/load.js';
import type { Options } from '../config/options.js';
import { fromSetFlags } from '../config/sources.js';
import { ExitCode, KernelError } from '../kernel/base/errors.js';
import { type StorePaths, storePaths } from '../store/files/paths.js';

/** A store to look into, and what was said about it. */
export interface StorePlace {
  readonly paths: StorePaths;
  /** The value of an option that somebody set; a default says nothing about files that are there. */
  sizeOf(name: keyof Options): number | undefined;
}

/** Throws STORE_MISSING (exit code 2) when the folder holds no store. */
export async function storePlace(
  dir: string,
  flags: { readonly config?: string; readonly set?: readonly string[] },
): Promise<StorePlace> {
  const { options, origins } = await loadOptions({
    assignments: fromSetFlags(flags.set ?? []),
    ...(flags.config === undefined ? {} : { file: flags.config }),
  });
  const root = resolve(dir);
  const paths = storePaths(root, origins.has('storePathCommitLog') ? options.storePathCommitLog : undefined);
  if (!existsSync(paths.commitLog) && !existsSync(paths.consumeQueue))
    throw new KernelError('STORE_MISSING', `${root} holds no store: there is neither a commit log nor a queue`, {
      exitCode: ExitCode.usage,
      remedy:
        'name the folder that storePathRootDir names, and with --set storePathCommitLog=… the log if it lies elsewhere',
    });
  return {
    paths,
    sizeOf: (name) => {
      const value = options[name];
      return origins.has(name) && typeof value === 'number' ? value : undefined;
    },
  };
}
