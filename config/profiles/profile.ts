import 'reflect-metadata';
import { loadFilterPlugin } from '../../plugins/filter/load.js';
import type { Options } from '../options.js';

/**
 * The plugins that a server with these options is made of. Only what the role needs is loaded. Throws KernelError (exit code 2)
 * naming a plugin of `options.plugins` that cannot be found or is none.
 */
export async function profileOf(options: Pick<Options, 'role' | 'plugins'>) {
  // The plugin bitmap belongs to every broker; what it does, options decide.
  const specs = options.plugins.filter((spec) => spec !== 'bitmap');
  const filters = await Promise.all(specs.map((spec) => loadFilterPlugin(spec)));
  switch (options.role) {
    case 'namesrv':
      return (await import('./namesrv.js')).namesrv;
    case 'broker':
      return (await import('./broker.js')).broker(filters);
    case 'all':
      return (await import('./all.js')).all(filters);
  }
}
