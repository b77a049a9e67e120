import { Lifecycle } from '../../../kernel/container.js';
import type { PluginManifest } from '../../../kernel/plugin.js';
import { Asking } from './asking.js';
import { Check } from './main.js';

/** What becomes of halves that nobody ends: their producers are asked, or they are given up. */
export const manifest: PluginManifest = {
  name: 'check',
  needs: ['transaction', 'commitlog', 'flush', 'reput', 'groups', 'offsets', 'topics', 'retention'],
  provides: [],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(Asking, { useClass: Asking }, single);
    container.register(Check, { useClass: Check }, single);
  },
  main: Check,
};
