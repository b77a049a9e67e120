import type { PluginManifest } from '../../kernel/plugin.js';
import { Gauges } from './contract.js';
import { ProcessGauges } from './main.js';

export const manifest: PluginManifest = {
  name: 'gauges',
  needs: ['commitlog', 'filter'],
  provides: [Gauges],
  setup(container) {
    container.register(Gauges, { useToken: ProcessGauges });
  },
  main: ProcessGauges,
};
