import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain, PluginManifest } from '../../kernel/plugin.js';
import { Options } from '../../kernel/tokens.js';
import { NamesrvConnections, NamesrvRouter, type Connections, type RequestRouter } from '../remoting/contract.js';
import { BrokerHandlers } from './broker-handlers.js';
import { KvConfig } from './kv-config.js';
import { KvFile } from './kv-file.js';
import { NamesrvSettings } from './namesrv-settings.js';
import { RouteHandlers } from './route-handlers.js';
import { RouteTable } from './route-table.js';
import { SettingsHandlers } from './settings-handlers.js';

@injectable()
class RoutesMain implements PluginMain {
  readonly #kv: KvConfig;
  readonly #start: () => NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @inject(Options) options: Options,
    @inject(NamesrvRouter) router: RequestRouter,
    @inject(NamesrvConnections) connections: Connections,
    @inject(RouteTable) routes: RouteTable,
    @inject(KvConfig) kv: KvConfig,
    @inject(BrokerHandlers) brokerHandlers: BrokerHandlers,
    @inject(RouteHandlers) routeHandlers: RouteHandlers,
    @inject(SettingsHandlers) settingsHandlers: SettingsHandlers,
  ) {
    this.#kv = kv;
    this.#start = () => {
      for (const handlers of [brokerHandlers, routeHandlers, settingsHandlers]) handlers.register(router);
      connections.onClose((connection) => routes.connectionClosed(connection));
      return setInterval(() => routes.expire(), options.expiryScanIntervalMs).unref();
    };
  }

  start(): void {
    this.#kv.load();
    this.#timer = this.#start();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#kv.flush();
  }
}

/** The name server. */
export const manifest: PluginManifest = {
  name: 'routes',
  needs: ['remoting-namesrv'],
  provides: [],
  setup(container) {
    container.registerSingleton(KvFile);
    container.registerSingleton(KvConfig);
    container.registerSingleton(NamesrvSettings);
    container.registerSingleton(RouteTable);
    container.registerSingleton(BrokerHandlers);
    container.registerSingleton(RouteHandlers);
    container.registerSingleton(SettingsHandlers);
  },
  main: RoutesMain,
};
