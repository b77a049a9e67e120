import type { PluginManifest } from '../../kernel/plugin.js';
import { Flush } from './main.js';

/** Needs reput so that it stops before it: what is flushed last is still dispatched. */
export const manifest: PluginManifest = {
  name: 'flush',
  needs: ['commitlog', 'reput'],
  services: ['flush'],
  provides: [],
  setup(container) {
    container.registerSingleton(Flush);
  },
  main: Flush,
};
