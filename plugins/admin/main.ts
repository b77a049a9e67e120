import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { RequestRouter } from '../remoting/contract.js';
import { MessageQueries } from './message-queries.js';
import { OffsetQueries } from './offset-queries.js';
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
    @inject(RuntimeInfo) private readonly runtime: RuntimeInfo,
  ) {}

  start(): void {
    this.offsets.register(this.router);
    this.messages.register(this.router);
    this.stats.register(this.router);
    this.runtime.register(this.router);
    this.runtime.startSampling();
  }

  stop(): void {
    this.runtime.stopSampling();
  }
}
