import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Router } from './router.js';
import { RemotingServer } from './server.js';

function makeServer(name: string, router: Router, options: Options, clock: Clock, logger: Logger): RemotingServer {
  const limits = {
    frameBytesHeldMax: options.frameBytesHeldMax,
    outboundBytesMax: options.outboundBytesMax,
    connectionsMax: options.connectionsMax,
    backlog: options.serverSocketBacklog,
    idleMs: options.serverChannelMaxIdleTimeSeconds * 1000,
  };
  return new RemotingServer(name, router, limits, clock, logger);
}

/** The broker's sockets: `listenPort` and, two below it, the fast port that old clients prefer for sends. */
@injectable()
export class BrokerListener implements PluginMain {
  readonly router = new Router();
  readonly server: RemotingServer;

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) logger: Logger,
  ) {
    this.server = makeServer('broker', this.router, options, clock, logger);
  }

  open(): Promise<void> {
    const { bindAddress, listenPort } = this.options;
    const ports = listenPort > 2 ? [listenPort, listenPort - 2] : [listenPort];
    return this.server.listen(bindAddress, ports);
  }

  close(): void {
    this.server.stopAccepting();
  }

  stop(): Promise<void> {
    return this.server.close();
  }
}

/** The name server's socket. */
@injectable()
export class NamesrvListener implements PluginMain {
  readonly router = new Router();
  readonly server: RemotingServer;

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) logger: Logger,
  ) {
    this.server = makeServer('name server', this.router, options, clock, logger);
  }

  open(): Promise<void> {
    return this.server.listen(this.options.bindAddress, [this.options.namesrvListenPort]);
  }

  close(): void {
    this.server.stopAccepting();
  }

  stop(): Promise<void> {
    return this.server.close();
  }
}
