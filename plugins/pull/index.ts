import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Pull } from './main.js';
import { PullChecks } from './checks.js';
import { OffsetMoved } from './offset-moved.js';
import { MessageSelector } from './selector.js';
import { SlowGroups } from './slow-groups.js';

export const manifest: PluginManifest = {
  name: 'pull',
  needs: ['remoting', 'commitlog', 'reput', 'topics', 'groups', 'offsets', 'filter', 'bitmap', 'metrics'],
  provides: [],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(PullChecks, { useClass: PullChecks }, single);
    container.register(MessageSelector, { useClass: MessageSelector }, single);
    container.register(SlowGroups, { useClass: SlowGroups }, single);
    container.register(OffsetMoved, { useClass: OffsetMoved }, single);
    container.register(Pull, { useClass: Pull }, single);
  },
  main: Pull,
};
