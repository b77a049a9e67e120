import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ExitCode, KernelError, messageOf, systemCodeOf } from './base/errors.js';

/** One kind of plugin that is found by name: the built-in ones, and what makes a module's default export one. */
export interface PluginKind<P extends { readonly name: string }> {
  readonly kind: string;
  readonly builtIn: readonly P[];
  /** Checks the shape of what the module at that address exports; throws TypeError saying what is wrong. */
  readonly check: (found: Partial<P>, module: string) => P;
  /** What an author writes, for the error's remedy. */
  readonly remedy: string;
}

/**
 * A plugin by what a person wrote: the name of a built-in one, else a file or folder (relative to `folder`), else a package that
 * can be imported from `folder` or from here. Throws KernelError saying what was looked for, or what is wrong with what was found.
 */
export async function loadPlugin<P extends { readonly name: string }>(
  spec: string,
  kind: PluginKind<P>,
  folder: string = process.cwd(),
): Promise<P> {
  const builtIn = kind.builtIn.find((plugin) => plugin.name === spec);
  if (builtIn !== undefined) return builtIn;
  const file = resolve(folder, spec);
  const address = existsSync(file) ? pathToFileURL(entryOf(file)).href : addressOfPackage(spec, folder);
  const module = await load(spec, kind, address);
  return checked(spec, kind, module, import.meta.resolve(address));
}

/** A folder stands for the main file of its package.json, or for its index.js. */
function entryOf(file: string): string {
  if (!statSync(file).isDirectory()) return file;
  try {
    return createRequire(join(file, 'x')).resolve(file);
  } catch {
    return file;
  }
}

function addressOfPackage(spec: string, folder: string): string {
  try {
    return pathToFileURL(createRequire(join(folder, 'x')).resolve(spec)).href;
  } catch {
    // Also a package that exports itself to `import` alone; that is found when it is installed beside this one.
    return spec;
  }
}

async function load<P extends { readonly name: string }>(
  spec: string,
  kind: PluginKind<P>,
  address: string,
): Promise<object> {
  try {
    return (await import(address)) as object;
  } catch (error) {
    if (systemCodeOf(error) === 'ERR_MODULE_NOT_FOUND' && address === spec) throw unknown(spec, kind, error);
    throw new KernelError('PLUGIN_FAILED', `plugin ${spec} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      remedy: 'the error is the plugin’s own: run node on its file to see it alone',
      exitCode: ExitCode.usage,
    });
  }
}

function unknown<P extends { readonly name: string }>(spec: string, kind: PluginKind<P>, cause: unknown): KernelError {
  const names = kind.builtIn.map((plugin) => plugin.name).join(', ');
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

/** The module's default export, which the kind's `define…` made, or something that it would accept. */
function checked<P extends { readonly name: string }>(
  spec: string,
  kind: PluginKind<P>,
  module: object,
  address: string,
): P {
  const found = (module as { default?: Partial<P> & { kind?: unknown } }).default;
  try {
    if (found?.kind !== kind.kind) throw new TypeError(`its default export is no ${kind.kind} plugin${other(found)}`);
    return kind.check(found, address);
  } catch (error) {
    throw new KernelError('PLUGIN_INVALID', `plugin ${spec}: ${messageOf(error)}`, {
      cause: error,
      remedy: kind.remedy,
      exitCode: ExitCode.usage,
    });
  }
}

function other(found: { kind?: unknown } | undefined): string {
  return typeof found?.kind === 'string' ? `, but one of kind ${found.kind}` : '';
}
