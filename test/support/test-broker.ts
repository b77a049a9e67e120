import type { InjectionToken } from 'tsyringe';
import type { OptionValue } from '../../config/declare.js';
import { loadOptions } from '../../config/load.js';
import type { Options as OptionValues } from '../../config/options.js';
import { profileOf } from '../../config/profiles/profile.js';
import { known } from '../../config/sources.js';
import { allOnMain, type Topology } from '../../config/topology.js';
import { systemClock } from '../../kernel/base/clock.js';
import type { Clock as ClockType } from '../../kernel/base/clock.js';
import { inject, injectable } from '../../kernel/container.js';
import { Kernel } from '../../kernel/kernel.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Clock, Logger, Options, Progress } from '../../kernel/tokens.js';
import { OpenStore } from '../../plugins/commitlog/open-store.js';
import { MeasureDisk } from '../../plugins/commitlog/contract.js';
import { LogFlush } from '../../plugins/flush/contract.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { RawClient } from './raw-client.js';
import type { DiskUsage } from '../../store/files/disk-usage.js';
import { recordingLogger, type LogLine } from './recording-logger.js';

export interface TestBrokerOptions {
  /** Any option by name. Without `storePathRootDir` the store is in memory. */
  readonly options?: Partial<OptionValues>;
  /** The store lies on these instead of on memory or disk: a disk that fails when told. */
  readonly files?: StoreFiles;
  readonly clock?: ClockType;
  readonly topology?: Topology;
  /** How full a path's disk is; half of it unless said otherwise, whatever this machine's is. */
  readonly disk?: (path: string) => DiskUsage | undefined;
  /** `flush` is left out: nothing is ever synced then. */
  readonly without?: readonly 'flush'[];
}

/** A whole broker without a name server, whose inside a test can reach. */
export interface TestBroker extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
  readonly options: OptionValues;
  readonly lines: readonly LogLine[];
  get<T>(token: InjectionToken<T>): T;
  connect(): Promise<RawClient>;
  stop(): Promise<void>;
}

export async function testBroker(wishes: TestBrokerOptions = {}): Promise<TestBroker> {
  const { options } = await loadOptions({ assignments: settingsOf(wishes) });
  const logger = recordingLogger();
  const profile = await profileOf(options);
  const kernel = await Kernel.boot({
    plugins: profile.map((manifest) =>
      wishes.without?.some((left) => left === manifest.name) === true ? noFlush : onFiles(manifest, wishes),
    ),
    options,
    clock: wishes.clock ?? systemClock,
    logger,
    topology: wishes.topology ?? allOnMain,
    hookTimeoutMs: 15_000,
    threads: { logLevel: 'silent' },
    onFatal: (error) => logger.error({ error: error.message }, 'fatal'),
  });
  const address = `127.0.0.1:${options.listenPort}`;
  const stop = (): Promise<void> => kernel.stop('the test is over');
  return {
    address,
    port: options.listenPort,
    options,
    lines: logger.lines,
    get: (token) => kernel.get(token),
    connect: () => RawClient.connect(address),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function settingsOf({ options = {} }: TestBrokerOptions) {
  const settings: Record<string, OptionValue> = {
    role: 'broker',
    bindAddress: '127.0.0.1',
    brokerName: 'broker-a',
    memory: options.storePathRootDir === undefined,
    listenPort: 0,
    ...options,
  };
  return Object.entries(settings).map(([name, value]) => known(name, value, 'a test'));
}

const HALF_FULL: DiskUsage = { total: 2 ** 40, used: 2 ** 39, usable: 2 ** 39 };

const noFlush: PluginManifest = {
  name: 'flush',
  needs: ['commitlog', 'reput'],
  provides: [LogFlush],
  setup(container) {
    container.register(LogFlush, { useValue: { flushNow: () => Promise.reject(new Error('nothing is synced')) } });
  },
};

/** The commit log's plugin with its disk, and its files where wished, replaced. */
function onFiles(manifest: PluginManifest, { files, disk = () => HALF_FULL }: TestBrokerOptions): PluginManifest {
  if (manifest.name !== 'commitlog') return manifest;
  @injectable()
  class StoreOnFiles extends OpenStore {
    constructor(
      @inject(Options) options: Options,
      @inject(Clock) clock: Clock,
      @inject(Logger) logger: Logger,
      @inject(Progress) progress: Progress,
    ) {
      super(options, clock, logger, progress);
      if (files !== undefined) Object.assign(this, { files, log: { ...this.log, files } });
    }
  }
  return {
    ...manifest,
    setup(container) {
      const done = manifest.setup(container);
      container.registerSingleton(OpenStore, StoreOnFiles);
      container.register(MeasureDisk, { useValue: (path: string) => Promise.resolve(disk(path)) });
      return done;
    },
  };
}
