import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Queues } from './contract.js';
import { Reput } from './main.js';
import { QueueReader } from './queue-reader.js';

export const manifest: PluginManifest = {
  name: 'reput',
  needs: ['commitlog'],
  services: ['reput'],
  provides: [Queues],
  setup(container) {
    container.register(QueueReader, { useClass: QueueReader }, { lifecycle: Lifecycle.Singleton });
    container.register(Queues, { useToken: QueueReader });
  },
  main: Reput,
};
