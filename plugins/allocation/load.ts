import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ExitCode, KernelError, messageOf } from '../../kernel/base/errors.js';
import { loadPlugin, type PluginKind } from '../../kernel/load-plugin.js';
import averagely from './averagely/index.js';
import circle from './circle/index.js';
import config from './config/index.js';
import consistentHash from './consistent-hash/index.js';
import { defineAllocation, type AllocationPlugin, type AllocationRule } from './contract.js';
import machineRoomNearby from './machine-room-nearby/index.js';
import machineRoom from './machine-room/index.js';

const allocations: PluginKind<AllocationPlugin> = {
  kind: 'allocation',
  builtIn: [averagely, circle, config, machineRoom, machineRoomNearby, consistentHash],
  check: (found) => {
    if (typeof found.create !== 'function') throw new TypeError('its default export has no function create');
    return defineAllocation(found.name as string, (options) => found.create!(options));
  },
  remedy: "write `export default defineAllocation('name', rule)`, with defineAllocation from mqkernel/plugin",
};

/**
 * An allocation rule by what `--allocate` says: a built-in name, a file or folder, or a package, and behind a colon the options
 * of those that take some. Throws KernelError.
 */
export async function loadAllocationRule(spec: string, folder: string = process.cwd()): Promise<AllocationRule> {
  const [name, options] = parted(spec, folder);
  const plugin = await loadAllocationPlugin(name, folder);
  try {
    return plugin.create(options);
  } catch (error) {
    throw new KernelError('PLUGIN_OPTIONS', `allocation rule ${spec}: ${messageOf(error)}`, {
      cause: error,
      exitCode: ExitCode.usage,
    });
  }
}

/** The plugin alone, by what stands before the colon. */
export function loadAllocationPlugin(name: string, folder?: string): Promise<AllocationPlugin> {
  return loadPlugin(name, allocations, folder);
}

/** The colon of `C:\rule.js` is none; a file may have one in its name. */
function parted(spec: string, folder: string): readonly [name: string, options: string] {
  const colon = spec.indexOf(':', 2);
  if (colon < 0 || existsSync(resolve(folder, spec))) return [spec, ''];
  return [spec.slice(0, colon), spec.slice(colon + 1)];
}
