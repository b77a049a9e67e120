import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { encodeRegisterBrokerBody } from '../../protocol/bodies/register-broker.js';
import type { TopicConfig } from '../../protocol/bodies/topic-config.js';
import { Perm } from '../../protocol/codes.js';
import { encodeRegisterBroker } from '../../protocol/headers/register-broker.js';
import { crc32 } from '../../protocol/message/crc.js';
import { Connections, NamesrvConnections } from '../remoting/contract.js';
import { Topics } from '../topics/contract.js';
import { hostPort, parseNamesrvAddr, type NamesrvAddress } from './addresses.js';
import type { Registration, RegistrationResult } from './contract.js';
import { NamesrvLink, type Announcement } from './namesrv-link.js';

/** 4.9: BrokerController#start. */
const PERIOD_MIN_MS = 10_000;
const PERIOD_MAX_MS = 60_000;
const FIRST_PERIOD_MS = 10_000;
/** How long serving waits for slow name servers; those that are down answer at once. */
const OPEN_WAIT_MS = 3000;
/** Addresses to listen on that are none to connect to. */
const wildcards: ReadonlySet<string> = new Set(['', '0.0.0.0', '::']);

/** Registers this broker at its name servers (4.9: BrokerController#registerBrokerAll, BrokerOuterAPI). */
@injectable()
export class Registrar implements Registration, PluginMain {
  readonly #options: Options;
  readonly #logger: Logger;
  readonly #topics: Topics;
  readonly #connections: Connections;
  readonly #ownNamesrv: Connections | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #links: NamesrvLink[] = [];
  #announcement: Announcement | undefined;
  #changeNoted = false;
  #closed = false;

  constructor(
    @inject(Options) options: Options,
    @inject(Logger) logger: Logger,
    @inject(Topics) topics: Topics,
    @inject(Connections) connections: Connections,
    @inject(NamesrvConnections, { isOptional: true }) ownNamesrv: Connections | undefined,
  ) {
    this.#options = options;
    this.#logger = logger;
    this.#topics = topics;
    this.#connections = connections;
    this.#ownNamesrv = ownNamesrv;
  }

  get lastResults(): readonly RegistrationResult[] {
    return this.#links.map((link) => link.result).filter((result) => result !== undefined);
  }

  registerNow(): Promise<readonly RegistrationResult[]> {
    return Promise.all(this.#links.map((link) => link.register(true)));
  }

  /** A bad address stops the start, before anything listens. */
  start(): void {
    this.#links = this.#addresses().map((address) => this.#linkTo(address));
    this.#topics.onChange(() => this.#topicsChanged());
  }

  async open(): Promise<void> {
    if (this.#links.length === 0) this.#logger.warn({}, 'no name server is configured: clients must know this broker');
    let slow: NodeJS.Timeout | undefined;
    const wait = new Promise<void>((resolve) => {
      slow = setTimeout(resolve, OPEN_WAIT_MS);
    });
    await Promise.race([this.#round(true), wait]);
    clearTimeout(slow);
    const periodMs = this.#periodMs();
    const round = (): void => void this.#round(this.#options.forceRegister);
    const first = setTimeout(() => {
      round();
      this.#timers.push(setInterval(round, periodMs).unref());
    }, FIRST_PERIOD_MS);
    this.#timers.push(first.unref());
  }

  /** The first thing that a stopping broker does: clients go elsewhere while it drains. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#links.map((link) => link.close()));
  }

  /** Registers everywhere and takes over the order configuration of the first name server that answers. */
  async #round(force: boolean): Promise<void> {
    const results = await Promise.all(this.#links.map((link) => link.register(force)));
    if (this.#closed) return;
    const first = this.#links[results.findIndex((result) => result.ok)];
    if (first?.order !== undefined) this.#topics.setOrderTopics(new Set(first.order.keys()));
  }

  /** Many changes in one turn make one registration; those that come while one runs make one more. */
  #topicsChanged(): void {
    if (this.#changeNoted) return;
    this.#changeNoted = true;
    setImmediate(() => {
      this.#changeNoted = false;
      if (!this.#closed && this.#connections.port > 0) void this.registerNow();
    });
  }

  #addresses(): NamesrvAddress[] {
    const { namesrvAddr, bindAddress } = this.#options;
    const own = this.#ownNamesrv !== undefined;
    const addresses = parseNamesrvAddr(namesrvAddr, own);
    if (addresses.length > 0 || !own) return addresses;
    return [{ host: wildcards.has(bindAddress) ? '127.0.0.1' : bindAddress, port: 0 }];
  }

  #linkTo({ host, port }: NamesrvAddress): NamesrvLink {
    const { connectTimeoutMillis, registerBrokerTimeoutMills } = this.#options;
    return new NamesrvLink({
      name: hostPort(host, port),
      address: () => {
        const real = port === 0 ? (this.#ownNamesrv?.port ?? 0) : port;
        return real === 0 ? undefined : { host, port: real };
      },
      announcement: () => this.#announce(),
      connectTimeoutMs: connectTimeoutMillis,
      timeoutMs: registerBrokerTimeoutMills,
      periodMs: this.#periodMs(),
      logger: this.#logger,
    });
  }

  #periodMs(): number {
    return Math.max(PERIOD_MIN_MS, Math.min(this.#options.registerNameServerPeriod, PERIOD_MAX_MS));
  }

  /** The body is the whole topic table: made once for each of its versions. */
  #announce(): Announcement {
    const { dataVersion } = this.#topics;
    if (this.#announcement?.dataVersion === dataVersion) return this.#announcement;
    const { brokerName, brokerClusterName: clusterName, brokerId, brokerIP1, brokerIP2 } = this.#options;
    const { port } = this.#connections;
    const brokerAddr = `${brokerIP1}:${port}`;
    const compressed = this.#options.compressedRegister;
    const body = encodeRegisterBrokerBody(
      {
        topicConfigSerializeWrapper: { topicConfigTable: this.#permittedTopics(), dataVersion },
        filterServerList: [],
      },
      compressed,
    );
    const identity = { brokerName, brokerAddr, clusterName, brokerId };
    // 4.9.7 puts the HA port behind the broker's own, whatever is configured.
    const haServerAddr = `${brokerIP2}:${port + 1}`;
    const ext = encodeRegisterBroker({ ...identity, haServerAddr, compressed, bodyCrc32: crc32(body) });
    return (this.#announcement = { identity, ext, body, dataVersion });
  }

  /** 4.9: registerBrokerAll: a broker that may not be read or written says so for each topic; other fields take defaults. */
  #permittedTopics(): ReadonlyMap<string, TopicConfig> {
    const perm = this.#options.brokerPermission;
    const whole = Perm.READ | Perm.WRITE;
    if ((perm & whole) === whole) return this.#topics.all();
    const limited = new Map<string, TopicConfig>();
    for (const [name, { topicName, readQueueNums, writeQueueNums }] of this.#topics.all()) {
      const topicFilterType = 'SINGLE_TAG';
      limited.set(name, {
        topicName,
        readQueueNums,
        writeQueueNums,
        perm,
        topicFilterType,
        topicSysFlag: 0,
        order: false,
      });
    }
    return limited;
  }
}
