import { loadPlugin, type PluginKind } from '../../kernel/load-plugin.js';
import { defineFilter, type FilterPlugin } from './contract.js';
import sql92 from './sql92/index.js';
import tag from './tag/index.js';

export const builtInFilters: readonly FilterPlugin[] = [tag, sql92];

const filters: PluginKind<FilterPlugin> = {
  kind: 'filter',
  builtIn: builtInFilters,
  check: (found, module) => ({ ...defineFilter(found.name as string, found.rule as FilterPlugin['rule']), module }),
  remedy: "write `export default defineFilter('name', rule)`, with defineFilter from mqkernel/plugin",
};

/** A filter plugin by what `--plugins` says: a built-in name, a file or folder, or a package. Throws KernelError. */
export function loadFilterPlugin(spec: string, folder?: string): Promise<FilterPlugin> {
  return loadPlugin(spec, filters, folder);
}
