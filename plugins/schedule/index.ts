import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Delays, Timers } from './contract.js';
import { DelayOffsetsFile } from './delay-offsets-file.js';
import { DelayOffsets } from './delay-offsets.js';
import { DelayLevels } from './delays.js';
import { Schedule } from './main.js';
import { TimerFile } from './timer-file.js';
import { TimerProgressFile } from './timer-progress-file.js';
import { TimerPlacement } from './timers.js';

export const manifest: PluginManifest = {
  name: 'schedule',
  needs: ['commitlog', 'flush', 'reput', 'retention'],
  services: ['schedule'],
  provides: [Delays, Timers],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(DelayLevels, { useClass: DelayLevels }, single);
    container.register(Delays, { useToken: DelayLevels });
    container.register(DelayOffsetsFile, { useClass: DelayOffsetsFile }, single);
    container.register(DelayOffsets, { useClass: DelayOffsets }, single);
    container.register(TimerProgressFile, { useClass: TimerProgressFile }, single);
    container.register(TimerFile, { useClass: TimerFile }, single);
    container.register(TimerPlacement, { useClass: TimerPlacement }, single);
    container.register(Timers, { useToken: TimerPlacement });
    container.register(Schedule, { useClass: Schedule }, single);
  },
  main: Schedule,
};
