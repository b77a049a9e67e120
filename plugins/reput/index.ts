import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { MessageIndex, Queues } from './contract.js';
import { Reput } from './main.js';
import { IndexQueries } from './index-queries.js';
import { QueueReader } from './queue-reader.js';

export const manifest: PluginManifest = {
  name: 'reput',
  needs: ['commitlog', 'bitmap'],
  services: ['reput'],
  provides: [Queues, MessageIndex],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(QueueReader, { useClass: QueueReader }, single);
    container.register(Queues, { useToken: QueueReader });
    container.register(IndexQueries, { useClass: IndexQueries }, single);
    container.register(MessageIndex, { useToken: IndexQueries });
  },
  main: Reput,
};
