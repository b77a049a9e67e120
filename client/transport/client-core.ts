import { systemClock, type Clock } from '../../kernel/base/clock.js';
import { messageOf } from '../../kernel/base/errors.js';
import { silentLogger, type Logger } from '../../kernel/base/logger.js';
import { encodeHeartbeat, type HeartbeatData } from '../../protocol/bodies/heartbeat.js';
import { RequestCode } from '../../protocol/codes.js';
import { Serialize } from '../../protocol/command.js';
import { encodeUnregisterClient } from '../../protocol/headers/unregister-client.js';
import { uniqueClientId } from './client-id.js';
import { MASTER_ID } from './message-queue.js';
import { NameServers } from './name-servers.js';
import { Routes } from './routes.js';
import { Transport } from './transport.js';

/** What every client of this SDK takes. */
export interface ClientOptions {
  /** Name servers, `host:port;host:port`. */
  readonly namesrvAddr: string;
  /** Form of the request headers. Default `binary`; `json` is what the Java client sends by default and easier to read in a trace. */
  readonly header?: 'binary' | 'json';
  /** Longest wait for an answer of a name server or an administrative answer of a broker, in milliseconds. Default 3,000. */
  readonly requestTimeoutMs?: number;
  /** Where the client reports what it cannot throw. Default: nowhere. */
  readonly logger?: Logger;
  /** Time; given by tests. */
  readonly clock?: Clock;
  /** Periods of the client's own work, in milliseconds; the defaults are those of 4.9. */
  readonly periods?: ClientPeriods;
}

export interface ClientPeriods {
  /** Heartbeats to the brokers. Default 30,000. */
  readonly heartbeatMs?: number;
  /** Refresh of known routes. Default 30,000. */
  readonly routeMs?: number;
  /** Look-up of topics that did not exist so far. Default 3,000. */
  readonly missingRouteMs?: number;
}

export interface HeartbeatSource {
  heartbeat(): HeartbeatData;
  /** Masters only (a producer), or slaves too (a consumer). */
  readonly slavesToo: boolean;
}

/** What producers, consumers and the admin client share: identity, connections, routes, heartbeats. */
export class ClientCore {
  readonly clientId = uniqueClientId();
  readonly clock: Clock;
  readonly logger: Logger;
  readonly transport: Transport;
  readonly nameServers: NameServers;
  readonly routes: Routes;
  readonly requestTimeoutMs: number;
  readonly #periods: ClientPeriods;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #working = new Set<Promise<void>>();
  #source: HeartbeatSource | undefined;
  #beating: Promise<void> | undefined;
  #beatAgain = false;

  constructor(options: ClientOptions) {
    this.clock = options.clock ?? systemClock;
    this.logger = options.logger ?? silentLogger;
    this.requestTimeoutMs = options.requestTimeoutMs ?? 3000;
    this.#periods = options.periods ?? {};
    this.transport = new Transport({
      clock: this.clock,
      logger: this.logger,
      serialize: options.header === 'json' ? Serialize.JSON : Serialize.ROCKETMQ,
    });
    this.nameServers = new NameServers(options.namesrvAddr, this.transport, this.logger);
    this.routes = new Routes(this.nameServers, this.logger, this.requestTimeoutMs);
  }

  /** Begins the periodic work. */
  start(source: HeartbeatSource): void {
    this.#source = source;
    this.every(this.#periods.routeMs ?? 30_000, () => this.routes.refreshAll(false));
    this.every(this.#periods.missingRouteMs ?? 3000, () => this.routes.refreshAll(true));
    this.every(this.#periods.heartbeatMs ?? 30_000, () => this.heartbeat());
    // A broker that appears learns of this client at once, not at the next beat.
    this.routes.onChange(() => void this.heartbeat());
  }

  /** Runs work again and again until `stop`; one run at a time, failures logged. */
  every(periodMs: number, work: () => Promise<void>): void {
    let running: Promise<void> | undefined;
    const timer = setInterval(() => {
      if (running !== undefined) return;
      const run = work()
        .catch((error: unknown) => this.logger.warn({ problem: messageOf(error) }, 'periodic work failed'))
        .finally(() => {
          running = undefined;
          this.#working.delete(run);
        });
      running = run;
      this.#working.add(run);
    }, periodMs);
    this.#timers.push(timer);
  }

  /** Heartbeats to all brokers in use. Calls during one that runs lead to one more after it. Never rejects. */
  heartbeat(): Promise<void> {
    if (this.#beating !== undefined) {
      this.#beatAgain = true;
      return this.#beating;
    }
    this.#beating = this.#beatAll().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  /** Tells all brokers that this client leaves the group. Failures are logged. */
  async unregister(groups: { producerGroup?: string; consumerGroup?: string }): Promise<void> {
    const call = {
      code: RequestCode.UNREGISTER_CLIENT,
      ext: encodeUnregisterClient({ clientID: this.clientId, ...groups }),
    };
    await this.#toBrokers('unregister', (address) => this.transport.request(address, call, this.requestTimeoutMs));
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#source = undefined;
    await this.#beating;
    await this.transport.stop();
    // Work that was begun, such as saving offsets, ends before this does.
    await Promise.all(this.#working);
  }

  async #beatAll(): Promise<void> {
    do {
      this.#beatAgain = false;
      const source = this.#source;
      if (source === undefined) return;
      const call = { code: RequestCode.HEART_BEAT, body: encodeHeartbeat(source.heartbeat()) };
      await this.#toBrokers('heartbeat', (address) => this.transport.request(address, call, this.requestTimeoutMs));
    } while (this.#beatAgain);
  }

  async #toBrokers(what: string, send: (address: string) => Promise<unknown>): Promise<void> {
    const slavesToo = this.#source?.slavesToo ?? true;
    const brokers = this.routes.brokers().filter((broker) => slavesToo || broker.brokerId === MASTER_ID);
    await Promise.all(
      brokers.map(async ({ brokerName, address }) => {
        try {
          await send(address);
        } catch (error) {
          this.logger.warn({ brokerName, address, problem: messageOf(error) }, `${what} failed`);
        }
      }),
    );
  }
}
