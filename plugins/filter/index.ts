import type { PluginManifest } from '../../kernel/plugin.js';
import { FilterRegistry, type FilterPlugin } from './contract.js';
import { Filters } from './main.js';
import { CachingFilterRegistry, InitialFilters } from './registry.js';
import tag from './tag/index.js';

/** The filters of a broker: tags always, and what `--plugins` named. */
export function filterPlugin(loaded: readonly FilterPlugin[] = []): PluginManifest {
  return {
    name: 'filter',
    needs: [],
    provides: [FilterRegistry],
    setup(container) {
      const filters = [tag, ...loaded.filter((plugin) => plugin.name !== tag.name)];
      container.registerInstance(InitialFilters, filters);
      container.registerSingleton(CachingFilterRegistry);
      container.register(FilterRegistry, { useToken: CachingFilterRegistry });
    },
    main: Filters,
  };
}
