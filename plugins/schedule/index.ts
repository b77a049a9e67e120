import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Delays } from './contract.js';
import { DelayOffsetsFile } from './delay-offsets-file.js';
import { DelayOffsets } from './delay-offsets.js';
import { DelayLevels } from './delays.js';
import { Schedule } from './main.js';

export const manifest: PluginManifest = {
  name: 'schedule',
  needs: ['commitlog', 'reput'],
  services: ['schedule'],
  provides: [Delays],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(DelayLevels, { useClass: DelayLevels }, single);
    container.register(Delays, { useToken: DelayLevels });
    container.register(DelayOffsetsFile, { useClass: DelayOffsetsFile }, single);
    container.register(DelayOffsets, { useClass: DelayOffsets }, single);
    container.register(Schedule, { useClass: Schedule }, single);
  },
  main: Schedule,
};
