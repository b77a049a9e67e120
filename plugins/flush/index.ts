import type { PluginManifest } from '../../kernel/plugin.js';
import { LogFlush } from './contract.js';
import { Flush } from './main.js';

/** Needs reput so that it stops before it: what is flushed last is still dispatched. */
export const manifest: PluginManifest = {
  name: 'flush',
  needs: ['commitlog', 'reput'],
  services: ['flush'],
  provides: [LogFlush],
  setup(container) {
    container.registerSingleton(Flush);
    container.register(LogFlush, { useToken: Flush });
  },
  main: Flush,
};
