import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Delays } from './contract.js';
import { DelayLevels } from './delays.js';
import { Schedule } from './main.js';

export const manifest: PluginManifest = {
  name: 'schedule',
  needs: ['commitlog', 'reput'],
  provides: [Delays],
  setup(container) {
    container.register(DelayLevels, { useClass: DelayLevels }, { lifecycle: Lifecycle.Singleton });
    container.register(Delays, { useToken: DelayLevels });
    container.register(Schedule, { useClass: Schedule }, { lifecycle: Lifecycle.Singleton });
  },
  main: Schedule,
};
