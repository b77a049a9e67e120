import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain, PluginManifest } from '../../kernel/plugin.js';
import { Options } from '../../kernel/tokens.js';
import { Connections, RequestRouter } from '../remoting/contract.js';
import { ClientHandlers } from './client-handlers.js';
import { ConsumerTable } from './consumer-table.js';
import { Consumers, Producers, SubscriptionGroups } from './contract.js';
import { GroupHandlers } from './group-handlers.js';
import { GroupTable } from './group-table.js';
import { GroupsFile } from './groups-file.js';
import { Notifier } from './notifier.js';
import { ProducerTable } from './producer-table.js';
import { QueueLocks } from './queue-locks.js';

/** After which a table that could not be written is tried again. */
const RETRY_INTERVAL_MS = 5000;

@injectable()
class GroupsMain implements PluginMain {
  readonly #options: Options;
  readonly #table: GroupTable;
  readonly #consumers: ConsumerTable;
  readonly #producers: ProducerTable;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #register: () => void;

  constructor(
    @inject(Options) options: Options,
    @inject(GroupTable) table: GroupTable,
    @inject(ConsumerTable) consumers: ConsumerTable,
    @inject(ProducerTable) producers: ProducerTable,
    @inject(ClientHandlers) clientHandlers: ClientHandlers,
    @inject(GroupHandlers) groupHandlers: GroupHandlers,
    @inject(QueueLocks) private readonly locks: QueueLocks,
    @inject(RequestRouter) router: RequestRouter,
    @inject(Connections) connections: Connections,
  ) {
    this.#options = options;
    this.#table = table;
    this.#consumers = consumers;
    this.#producers = producers;
    this.#register = () => {
      clientHandlers.register(router);
      groupHandlers.register(router);
      locks.register(router);
      connections.onClose((connection) => {
        producers.closed(connection);
        consumers.closed(connection);
      });
    };
  }

  start(): void {
    this.#table.load();
    this.#register();
    const scan = (): void => {
      this.#producers.expire();
      this.#consumers.expire();
      this.locks.expire();
    };
    this.#timers.push(setInterval(scan, this.#options.expiryScanIntervalMs).unref());
    const retry = (): void => {
      this.#table.flush().catch(() => undefined);
    };
    this.#timers.push(setInterval(retry, RETRY_INTERVAL_MS).unref());
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#table.flush();
  }
}

/** Subscription groups and live clients. */
export const manifest: PluginManifest = {
  name: 'groups',
  needs: ['remoting', 'topics', 'offsets', 'filter'],
  provides: [SubscriptionGroups, Consumers, Producers],
  setup(container) {
    container.registerSingleton(GroupsFile);
    container.registerSingleton(GroupTable);
    container.registerSingleton(Notifier);
    container.registerSingleton(ConsumerTable);
    container.registerSingleton(ProducerTable);
    container.register(SubscriptionGroups, { useToken: GroupTable });
    container.register(Consumers, { useToken: ConsumerTable });
    container.register(Producers, { useToken: ProducerTable });
    container.registerSingleton(QueueLocks);
    container.registerSingleton(ClientHandlers);
    container.registerSingleton(GroupHandlers);
  },
  main: GroupsMain,
};
