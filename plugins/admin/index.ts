import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Admin } from './main.js';
import { MessageQueries } from './message-queries.js';
import { OffsetQueries } from './offset-queries.js';
import { RuntimeInfo } from './runtime-info.js';
import { StatsQueries } from './stats-queries.js';

export const manifest: PluginManifest = {
  name: 'admin',
  needs: ['remoting', 'commitlog', 'reput', 'topics', 'groups', 'offsets', 'metrics', 'gauges', 'schedule'],
  provides: [],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(OffsetQueries, { useClass: OffsetQueries }, single);
    container.register(MessageQueries, { useClass: MessageQueries }, single);
    container.register(StatsQueries, { useClass: StatsQueries }, single);
    container.register(RuntimeInfo, { useClass: RuntimeInfo }, single);
    container.register(Admin, { useClass: Admin }, single);
  },
  main: Admin,
};
