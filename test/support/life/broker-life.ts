import type { DependencyContainer, InjectionToken } from 'tsyringe';
import { createRootContainer, inject, injectable } from '../../../kernel/container.js';
import type { PluginMain, PluginManifest } from '../../../kernel/plugin.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { Pool, ThreadHost } from '../../../kernel/threads/contract.js';
import { Clock, Logger, Options, Progress } from '../../../kernel/tokens.js';
import { AppendGate, LogReader } from '../../../plugins/commitlog/contract.js';
import { manifest as commitlog } from '../../../plugins/commitlog/index.js';
import { OpenStore } from '../../../plugins/commitlog/open-store.js';
import { ConsumerFilters } from '../../../plugins/filter/bitmap/contract.js';
import { manifest as flush } from '../../../plugins/flush/index.js';
import { OffsetTable } from '../../../plugins/offsets/offset-table.js';
import { manifest as reput } from '../../../plugins/reput/index.js';
import { Queues } from '../../../plugins/reput/contract.js';
import { TopicTable } from '../../../plugins/topics/topic-table.js';
import { ConfigFile, type ReplaceFile } from '../../../store/metadata/config-file.js';
import { LoggedProgress } from '../../../kernel/base/progress.js';
import { defaultOptions } from '../default-options.js';
import { localPool } from '../local-pool.js';
import type { LossyFiles } from '../lossy-files.js';
import { recordingLogger } from '../recording-logger.js';
import { HandThreads, type Tamper } from './hand-threads.js';
import type { LifeClock } from './life-clock.js';

export const STORE = '/store';
export const TOPICS_FILE = `${STORE}/config/topics.json`;
export const OFFSETS_FILE = `${STORE}/config/consumerOffset.json`;
/** How long an acknowledged message of ASYNC_FLUSH may stay unsynced, ms. */
export const THOROUGH_MS = 10_000;

export interface LifeWishes {
  readonly files: LossyFiles;
  readonly clock: LifeClock;
  readonly sync: boolean;
  /** Writes the files under `config/`. */
  readonly replace: ReplaceFile;
  readonly tamper?: Tamper;
  readonly without?: readonly ('flush' | 'reput')[];
  /** Plugins that run besides, after the store's. */
  readonly more?: readonly PluginManifest[];
  /** Called after all plugins were set up: puts twins in the places of what would touch this machine. */
  readonly prepare?: (container: DependencyContainer) => void;
  readonly options?: Partial<Options>;
}

/** Small files, so that a short life rolls many of them. */
const lifeOptions = (sync: boolean): ReturnType<typeof defaultOptions> =>
  defaultOptions({
    memory: true,
    storePathRootDir: STORE,
    storePathCommitLog: `${STORE}/commitlog`,
    mappedFileSizeCommitLog: 8192,
    mappedFileSizeConsumeQueue: 400,
    maxHashSlotNum: 20,
    maxIndexNum: 50,
    queueFilesOpenMax: 4,
    queueTableRowsMax: 1024,
    ringBytes: 32_768,
    ringSlots: 32,
    flushDiskType: sync ? 'SYNC_FLUSH' : 'ASYNC_FLUSH',
    flushCommitLogThoroughInterval: THOROUGH_MS,
  });
const optionsOf = { sync: lifeOptions(true), async: lifeOptions(false) };

/** Its messages get no filter bits. */
const noFilters: ConsumerFilters = {
  boot: undefined,
  register: () => undefined,
  unregister: () => undefined,
  narrowed: (_group, _subscription, filter) => filter,
  attach: () => Promise.resolve(),
};

const FILES = Symbol('files of a test');

/** `memory` keeps it from taking a lock on the machine; its files are the test's. What wakes the network thread is `collect`. */
@injectable()
class StoreOnTwin extends OpenStore {
  readonly wakers: (() => void)[] = [];

  constructor(
    @inject(Options) options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) logger: Logger,
    @inject(Progress) progress: Progress,
    @inject(FILES) files: LossyFiles,
  ) {
    super(options, clock, logger, progress);
    const wake = {
      address: new HandThreads(clock, logger).bellOf(),
      add: (listener: () => void) => this.wakers.push(listener),
      start: () => undefined,
      stop: () => Promise.resolve(),
    };
    Object.assign(this, { files, log: { ...this.log, files }, wake });
  }
}

/**
 * One life of a broker's store on a twin of a disk: the real plugins and services of the log, its queues, topics and offsets, from
 * recovery to the stop. Nothing runs by itself: the services are stepped, and `collect` is the network thread's wake-up.
 */
export class BrokerLife {
  readonly threads: HandThreads;
  readonly logger = recordingLogger();
  readonly #container: DependencyContainer;
  readonly #mains = new Map<string, PluginMain>();
  readonly topics: TopicTable;
  readonly offsets: OffsetTable;

  /** As a start does it; rejects when the broker would refuse or could not serve. */
  static async start(wishes: LifeWishes): Promise<BrokerLife> {
    const life = new BrokerLife(wishes);
    await wishes.clock.during(
      'starting',
      () => wishes.files.isOff,
      () => life.#start(),
    );
    return life;
  }

  private constructor(private readonly wishes: LifeWishes) {
    const { files, clock, sync, replace, tamper } = wishes;
    const options = { ...(sync ? optionsOf.sync : optionsOf.async), ...wishes.options };
    this.threads = new HandThreads(clock.quiet, this.logger, tamper);
    this.#container = createRootContainer();
    this.#container.registerInstance(Options, options);
    this.#container.registerInstance(Clock, clock);
    this.#container.registerInstance(Logger, this.logger);
    this.#container.registerInstance(Progress, new LoggedProgress(clock, this.logger));
    this.#container.registerInstance(ConsumerFilters, noFilters);
    this.#container.registerInstance<Pool>(Pool, localPool);
    this.#container.registerInstance<ThreadHost>(ThreadHost, this.threads);
    this.#container.registerInstance(FILES, files);
    const file = (path: string): ConfigFile =>
      new ConfigFile({ path, commitLogDir: `${STORE}/commitlog` }, files, replace, this.logger);
    this.topics = new TopicTable(options, clock, this.logger, file(TOPICS_FILE));
    this.offsets = new OffsetTable(clock, this.logger, file(OFFSETS_FILE));
  }

  get store(): OpenStore {
    return this.#container.resolve(OpenStore);
  }

  get gate(): AppendGate {
    return this.#container.resolve<AppendGate>(AppendGate);
  }

  get queues(): Queues {
    return this.#container.resolve<Queues>(Queues);
  }

  get log(): LogReader {
    return this.#container.resolve<LogReader>(LogReader);
  }

  get<T>(token: InjectionToken<T>): T {
    return this.#container.resolve<T>(token);
  }

  main(plugin: string): PluginMain {
    return this.#mains.get(plugin)!;
  }

  mark(slot: Watermark): number {
    return this.store.watermarks.get(slot);
  }

  /** What the network thread does when it is woken. */
  collect(): void {
    for (const waker of (this.store as StoreOnTwin).wakers) waker();
  }

  /** As an end by SIGTERM; the next start finds whether all was well. */
  async stop(): Promise<void> {
    this.gate.publish();
    this.threads.rest('commitlog');
    this.collect();
    await this.topics.flush().catch(() => undefined);
    await this.offsets.persist().catch(() => undefined);
    const { clock, files } = this.wishes;
    const stopAll = async (): Promise<void> => {
      for (const main of [...this.#mains.values()].reverse()) await main.stop?.();
    };
    await clock.during('stopping', () => files.isOff, stopAll);
  }

  async #start(): Promise<void> {
    const { files, without, more = [], prepare } = this.wishes;
    const own = [commitlog, reput, flush].filter(({ name }) => without?.includes(name as never) !== true);
    const manifests = [...own, ...more];
    for (const manifest of manifests) await this.#setUp(manifest);
    prepare?.(this.#container);
    const { commitLog, consumeQueue, config, temporary } = this.store.paths;
    for (const dir of [commitLog, consumeQueue, config, temporary]) files.makeDir(dir);
    for (const manifest of manifests) {
      const main = this.#container.resolve<PluginMain>(manifest.main as never);
      await main.start?.();
      this.#mains.set(manifest.name, main);
    }
    this.threads.holdKicks('commitlog');
    this.topics.load();
    this.offsets.load();
  }

  async #setUp(manifest: PluginManifest): Promise<void> {
    await manifest.setup(this.#container);
    if (manifest.name === 'commitlog') this.#container.registerSingleton(OpenStore, StoreOnTwin);
  }
}
