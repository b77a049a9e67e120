import type { PluginManifest } from '../../kernel/plugin.js';
import { Options } from '../../kernel/tokens.js';
import { FilterRegistry, type FilterPlugin } from './contract.js';
import { Filters } from './main.js';
import { CachingFilterRegistry, checkCollisions, InitialFilters } from './registry.js';
import sql92 from './sql92/index.js';
import tag from './tag/index.js';

/**
 * The filters of a broker: tags always, and what `--plugins` named; SQL92 not while `enablePropertyFilter` is off. Throws KernelError
 * when two share a name or an expression type.
 */
export function filterPlugin(loaded: readonly FilterPlugin[] = []): PluginManifest {
  const known = [...new Set([tag, ...loaded])];
  checkCollisions(known);
  return {
    name: 'filter',
    needs: [],
    provides: [FilterRegistry],
    setup(container) {
      container.register(InitialFilters, {
        useFactory: (resolver) => {
          const { enablePropertyFilter } = resolver.resolve(Options);
          return known.filter((plugin) => plugin !== sql92 || enablePropertyFilter);
        },
      });
      container.registerSingleton(CachingFilterRegistry);
      container.register(FilterRegistry, { useToken: CachingFilterRegistry });
    },
    main: Filters,
  };
}
