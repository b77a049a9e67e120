import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { BatchEncoder } from './batch-encoder.js';
import { SendEncoder } from './encoder.js';
import { Send } from './main.js';
import { Placement } from './placement.js';
import { SendBack } from './send-back.js';
import { SendSteps } from './steps.js';

export const manifest: PluginManifest = {
  name: 'send',
  needs: ['remoting', 'commitlog', 'topics', 'groups', 'schedule', 'transaction', 'metrics'],
  provides: [],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(SendSteps, { useClass: SendSteps }, single);
    container.register(Placement, { useClass: Placement }, single);
    container.register(SendEncoder, { useClass: SendEncoder }, single);
    container.register(BatchEncoder, { useClass: BatchEncoder }, single);
    container.register(SendBack, { useClass: SendBack }, single);
    container.register(Send, { useClass: Send }, single);
  },
  main: Send,
};
