import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Delays, Timers } from './contract.js';
import { DelayLevels } from './delays.js';
import { Schedule } from './main.js';
import { TimerPlacement } from './timers.js';

export const manifest: PluginManifest = {
  name: 'schedule',
  needs: ['commitlog', 'reput'],
  provides: [Delays, Timers],
  setup(container) {
    container.register(DelayLevels, { useClass: DelayLevels }, { lifecycle: Lifecycle.Singleton });
    container.register(Delays, { useToken: DelayLevels });
    container.register(Timers, { useClass: TimerPlacement }, { lifecycle: Lifecycle.Singleton });
    container.register(Schedule, { useClass: Schedule }, { lifecycle: Lifecycle.Singleton });
  },
  main: Schedule,
};
