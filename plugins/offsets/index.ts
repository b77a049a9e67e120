import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain, PluginManifest } from '../../kernel/plugin.js';
import { Options } from '../../kernel/tokens.js';
import { RequestRouter } from '../remoting/contract.js';
import { StoreState } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { Offsets } from './contract.js';
import { OffsetHandlers } from './offset-handlers.js';
import { OffsetTable } from './offset-table.js';
import { OffsetsFile } from './offsets-file.js';

@injectable()
class OffsetsMain implements PluginMain {
  readonly #table: OffsetTable;
  readonly #handlers: OffsetHandlers;
  readonly #router: RequestRouter;
  readonly #intervalMs: number;
  readonly #store: StoreState;
  readonly #queues: Queues;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @inject(OffsetTable) table: OffsetTable,
    @inject(OffsetHandlers) handlers: OffsetHandlers,
    @inject(RequestRouter) router: RequestRouter,
    @inject(StoreState) store: StoreState,
    @inject(Queues) queues: Queues,
    @inject(Options) options: Options,
  ) {
    this.#table = table;
    this.#handlers = handlers;
    this.#router = router;
    this.#store = store;
    this.#queues = queues;
    this.#intervalMs = options.flushConsumerOffsetInterval;
  }

  start(): void {
    this.#table.load(this.#store.recovered ? (topic, queueId) => this.#endOf(topic, queueId) : undefined);
    this.#handlers.register(this.#router);
    this.#timer = setInterval(() => {
      // A failure is logged by the file, which stays dirty: the next round tries again.
      this.#table.persist().catch(() => undefined);
    }, this.#intervalMs).unref();
  }

  #endOf(topic: string, queueId: number): number | undefined {
    return this.#queues.has(topic, queueId) ? this.#queues.maxOffset(topic, queueId) : undefined;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#table.persist();
  }
}

/** Consumers' progress. */
export const manifest: PluginManifest = {
  name: 'offsets',
  needs: ['remoting', 'commitlog', 'reput'],
  provides: [Offsets],
  setup(container) {
    container.registerSingleton(OffsetsFile);
    container.registerSingleton(OffsetTable);
    container.register(Offsets, { useToken: OffsetTable });
    container.registerSingleton(OffsetHandlers);
  },
  main: OffsetsMain,
};
