import type { PluginManifest } from '../../kernel/plugin.js';
import { Counters } from './contract.js';

export const manifest: PluginManifest = {
  name: 'metrics',
  needs: [],
  provides: [Counters],
  setup(container) {
    const zero = { putMessages: 0, putBytes: 0, putRefused: 0, getMessages: 0, getBytes: 0, getFound: 0, getMissed: 0 };
    container.registerInstance(Counters, zero);
  },
};
