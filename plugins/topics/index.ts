import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain, PluginManifest } from '../../kernel/plugin.js';
import { RequestRouter } from '../remoting/contract.js';
import { Topics } from './contract.js';
import { TopicHandlers } from './topic-handlers.js';
import { TopicTable } from './topic-table.js';
import { TopicsFile } from './topics-file.js';

/** After which a table that could not be written is tried again. */
const RETRY_INTERVAL_MS = 5000;

@injectable()
class TopicsMain implements PluginMain {
  readonly #table: TopicTable;
  readonly #handlers: TopicHandlers;
  readonly #router: RequestRouter;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @inject(TopicTable) table: TopicTable,
    @inject(TopicHandlers) handlers: TopicHandlers,
    @inject(RequestRouter) router: RequestRouter,
  ) {
    this.#table = table;
    this.#handlers = handlers;
    this.#router = router;
  }

  start(): void {
    this.#table.load();
    this.#handlers.register(this.#router);
    this.#timer = setInterval(() => {
      this.#table.flush().catch(() => undefined);
    }, RETRY_INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#table.flush();
  }
}

/** The topic table and its administration. */
export const manifest: PluginManifest = {
  name: 'topics',
  needs: ['remoting', 'reput'],
  provides: [Topics],
  setup(container) {
    container.registerSingleton(TopicsFile);
    container.registerSingleton(TopicTable);
    container.register(Topics, { useToken: TopicTable });
    container.registerSingleton(TopicHandlers);
  },
  main: TopicsMain,
};
