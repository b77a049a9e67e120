import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Connections, NamesrvConnections, NamesrvRouter, RequestRouter } from './contract.js';
import { BrokerListener, NamesrvListener } from './listener.js';

/** The broker's side of the wire. */
export const manifest: PluginManifest = {
  name: 'remoting',
  needs: [],
  provides: [RequestRouter, Connections],
  setup(container) {
    container.register(BrokerListener, { useClass: BrokerListener }, { lifecycle: Lifecycle.Singleton });
    container.register(RequestRouter, { useFactory: (c) => c.resolve(BrokerListener).router });
    container.register(Connections, { useFactory: (c) => c.resolve(BrokerListener).server });
  },
  main: BrokerListener,
};

/** The name server's side of the wire: a listener of its own, so that each role keeps its port and its request codes. */
export const namesrvManifest: PluginManifest = {
  name: 'remoting-namesrv',
  needs: [],
  provides: [NamesrvRouter, NamesrvConnections],
  setup(container) {
    container.register(NamesrvListener, { useClass: NamesrvListener }, { lifecycle: Lifecycle.Singleton });
    container.register(NamesrvRouter, { useFactory: (c) => c.resolve(NamesrvListener).router });
    container.register(NamesrvConnections, { useFactory: (c) => c.resolve(NamesrvListener).server });
  },
  main: NamesrvListener,
};
