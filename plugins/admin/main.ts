import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { RequestRouter } from '../remoting/contract.js';
import { ClientCalls } from './client-calls.js';
import { GroupOffsets } from './group-offsets.js';
import { MessageQueries } from './message-queries.js';
import { OffsetQueries } from './offset-queries.js';
import { OffsetReset } from './offset-reset.js';
import { QueueView } from './queue-view.js';
import { RuntimeInfo } from './runtime-info.js';
import { StatsQueries } from './stats-queries.js';

/** What operators and admin tools ask of a broker (4.9: AdminBrokerProcessor). */
@injectable()
export class Admin implements PluginMain {
  constructor(
    @inject(RequestRouter) private readonly router: RequestRouter,
    @inject(OffsetQueries) private readonly offsets: OffsetQueries,
    @inject(MessageQueries) private readonly messages: MessageQueries,
    @inject(StatsQueries) private readonly stats: StatsQueries,
    @inject(GroupOffsets) private readonly groupOffsets: GroupOffsets,
    @inject(OffsetReset) private readonly reset: OffsetReset,
    @inject(ClientCalls) private readonly clients: ClientCalls,
    @inject(QueueView) private readonly queueView: QueueView,
    @inject(RuntimeInfo) private readonly runtime: RuntimeInfo,
  ) {}

  start(): void {
    this.offsets.register(this.router);
    this.messages.register(this.router);
    this.stats.register(this.router);
    this.groupOffsets.register(this.router);
    this.reset.register(this.router);
    this.clients.register(this.router);
    this.queueView.register(this.router);
    this.runtime.register(this.router);
    this.runtime.startSampling();
  }

  stop(): void {
    this.runtime.stopSampling();
  }
}
