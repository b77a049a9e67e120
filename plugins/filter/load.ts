import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExitCode, KernelError, messageOf, systemCodeOf } from '../../kernel/base/errors.js';
import { defineFilter, type FilterPlugin } from './contract.js';
import sql92 from './sql92/index.js';
import tag from './tag/index.js';

export const builtInFilters: readonly FilterPlugin[] = [tag, sql92];

/**
 * A filter plugin by what `--plugins` says: the name of a built-in one, else a file (relative to `folder`), else a package that
 * can be imported from `folder` or from here. Throws KernelError saying what was looked for, or what is wrong with what was found.
 */
export async function loadFilterPlugin(spec: string, folder: string = process.cwd()): Promise<FilterPlugin> {
  const builtIn = builtInFilters.find((plugin) => plugin.name === spec);
  if (builtIn !== undefined) return builtIn;
  const file = resolve(folder, spec);
  const address = existsSync(file) ? pathToFileURL(entryOf(file)).href : addressOfPackage(spec, folder);
  return { ...checked(spec, await load(spec, address)), module: import.meta.resolve(address) };
}

/** A folder stands for its index.js. */
function entryOf(file: string): string {
  const index = join(file, 'index.js');
  return existsSync(index) ? index : file;
}

function addressOfPackage(spec: string, folder: string): string {
  try {
    return pathToFileURL(createRequire(join(folder, 'x')).resolve(spec)).href;
  } catch {
    // Also a package that exports itself to `import` alone; that is found when it is installed beside this one.
    return spec;
  }
}

async function load(spec: string, address: string): Promise<object> {
  try {
    return (await import(address)) as object;
  } catch (error) {
    if (systemCodeOf(error) === 'ERR_MODULE_NOT_FOUND' && address === spec) throw unknown(spec, error);
    throw new KernelError('PLUGIN_FAILED', `plugin ${spec} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      remedy: 'the error is the plugin’s own: run node on its file to see it alone',
      exitCode: ExitCode.usage,
    });
  }
}

function unknown(spec: string, cause: unknown): KernelError {
  const names = builtInFilters.map((plugin) => plugin.name).join(', ');
  return new KernelError(
    'PLUGIN_UNKNOWN',
    `no plugin ${spec}: neither built in, nor a file, nor an installed package`,
    {
      cause,
      remedy: `built in are ${names}; a file needs its path, a package must be installed`,
      exitCode: ExitCode.usage,
    },
  );
}

/** The module's default export, which `defineFilter` made, or something that it would accept. */
function checked(spec: string, module: object): FilterPlugin {
  const found = (module as { default?: Partial<FilterPlugin> }).default;
  try {
    if (found?.kind !== 'filter') throw new TypeError('its default export is no filter plugin');
    return defineFilter(found.name as string, found.rule as FilterPlugin['rule']);
  } catch (error) {
    throw new KernelError('PLUGIN_INVALID', `plugin ${spec}: ${messageOf(error)}`, {
      cause: error,
      remedy: "write `export default defineFilter('name', rule)`, with defineFilter from mqkernel/plugin",
      exitCode: ExitCode.usage,
    });
  }
}
