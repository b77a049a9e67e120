import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Ledger } from '../../kernel/ring/ledger.js';
import { callsOf, ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Options } from '../../kernel/tokens.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import { openFilesMax } from '../../store/files/descriptors.js';
import type { ScheduleCalls } from '../../workers/schedule/contract.js';
import { startSchedule } from '../../workers/schedule/handle.js';
import { StoreEnds, StoreState } from '../commitlog/contract.js';
import { DelayLevels } from './delays.js';
import { DelayOffsets } from './delay-offsets.js';

/** Of the files that the process may have open: one for each level, and one more while it goes on to the next. */
const READ_SHARE = 1 / 16;

/** Runs the schedule worker, which delivers delayed messages when they are due; what was not delivered is read again after a restart. */
@injectable()
export class Schedule implements PluginMain {
  #service: RunningService | undefined;
  #isOpen = false;

  constructor(
    @inject(DelayLevels) private readonly levels: DelayLevels,
    @inject(DelayOffsets) private readonly offsets: DelayOffsets,
    @inject(StoreState) private readonly state: StoreState,
    @inject(StoreEnds) private readonly ends: StoreEnds,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) private readonly options: Options,
  ) {}

  async start(): Promise<void> {
    const { state, options } = this;
    this.offsets.load();
    const store = this.ends.memoryOf('schedule');
    const boot = {
      log: state.log,
      queueDir: state.paths.consumeQueue,
      queueFileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
      queueFilesOpenMax: openFilesMax(options.queueFilesOpenMax, READ_SHARE),
      ext: state.queueExt,
      delayLevelsMs: this.levels.levelsMs,
      watermarks: state.watermarks.memory,
      queueTable: state.queueTable.memory,
      store,
      levels: this.levels.memory,
      ledger: Ledger.allocate(store.ring),
    };
    this.#service = await startSchedule(this.threads, boot, () => void this.#openAgain());
    this.ends.serve(this.#service, store);
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#calls.open();
    this.offsets.saveRegularly();
  }

  /** What was handed over is waited for, so that the next start does not deliver it again. */
  async close(): Promise<void> {
    this.#isOpen = false;
    if (this.#service !== undefined) await this.#calls.pause();
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    await this.offsets.close();
  }

  get #calls() {
    return callsOf<ScheduleCalls>(this.#service!);
  }

  async #openAgain(): Promise<void> {
    // When its thread died once more, there is another restart.
    if (this.#isOpen) await this.#calls.open().catch(() => undefined);
  }
}
