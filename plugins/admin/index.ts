import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { ClientCalls } from './client-calls.js';
import { GroupOffsets } from './group-offsets.js';
import { Admin } from './main.js';
import { MessageQueries } from './message-queries.js';
import { OffsetQueries } from './offset-queries.js';
import { OffsetReset } from './offset-reset.js';
import { Progress } from './progress.js';
import { QueueView } from './queue-view.js';
import { RuntimeInfo } from './runtime-info.js';
import { StatsQueries } from './stats-queries.js';

export const manifest: PluginManifest = {
  name: 'admin',
  needs: ['remoting', 'commitlog', 'reput', 'topics', 'groups', 'offsets', 'metrics', 'gauges', 'schedule', 'filter'],
  provides: [],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(OffsetQueries, { useClass: OffsetQueries }, single);
    container.register(MessageQueries, { useClass: MessageQueries }, single);
    container.register(Progress, { useClass: Progress }, single);
    container.register(GroupOffsets, { useClass: GroupOffsets }, single);
    container.register(OffsetReset, { useClass: OffsetReset }, single);
    container.register(ClientCalls, { useClass: ClientCalls }, single);
    container.register(QueueView, { useClass: QueueView }, single);
    container.register(StatsQueries, { useClass: StatsQueries }, single);
    container.register(RuntimeInfo, { useClass: RuntimeInfo }, single);
    container.register(Admin, { useClass: Admin }, single);
  },
  main: Admin,
};
