import { messageOf } from '../../kernel/base/errors.js';
import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Ledger } from '../../kernel/ring/ledger.js';
import { callsOf, ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { queueFileBytes } from '../../store/consumequeue/unit.js';
import { openFilesMax } from '../../store/files/descriptors.js';
import type { ScheduleCalls } from '../../workers/schedule/contract.js';
import { startSchedule } from '../../workers/schedule/handle.js';
import { StoreEnds, StoreState } from '../commitlog/contract.js';
import { LogFlush } from '../flush/contract.js';
import { RecordKeepers } from '../retention/contract.js';
import { DelayLevels } from './delays.js';
import { DelayOffsets } from './delay-offsets.js';
import { TimerFile } from './timer-file.js';
import { TimerPlacement } from './timers.js';

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
    @inject(TimerPlacement) private readonly timers: TimerPlacement,
    @inject(TimerFile) private readonly timerFile: TimerFile,
    @inject(RecordKeepers) private readonly keepers: RecordKeepers,
    @inject(LogFlush) private readonly flush: LogFlush,
    @inject(StoreState) private readonly state: StoreState,
    @inject(StoreEnds) private readonly ends: StoreEnds,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) private readonly options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  async start(): Promise<void> {
    const { state, options } = this;
    this.offsets.load();
    this.timerFile.load();
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
      timers: this.timers.memory,
    };
    this.#service = await startSchedule(this.threads, boot, () => void this.#openAgain());
    this.ends.serve(this.#service, store);
    await this.timerFile.attach(this.#calls);
    this.keepers.add('delayed messages', (offset) => this.#moveBelow(offset));
  }

  async open(): Promise<void> {
    this.#isOpen = true;
    await this.#calls.open();
    this.offsets.saveRegularly();
    this.timerFile.saveRegularly();
  }

  /** What was handed over is waited for, so that the next start does not deliver it again. */
  async close(): Promise<void> {
    this.#isOpen = false;
    if (this.#service === undefined) return;
    try {
      await this.#calls.pause();
    } catch (error) {
      this.logger.warn(
        { error: messageOf(error) },
        'delayed messages that were on their way may be delivered again after the next start',
      );
    }
    await this.timerFile.note();
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    // A power cut must not take deliveries that the saved progress counts. When this fails the store has failed, and neither is saved.
    await this.flush.flushNow().catch(() => undefined);
    await this.offsets.close();
    await this.timerFile.close();
  }

  get #calls() {
    return callsOf<ScheduleCalls>(this.#service!);
  }

  async #openAgain(): Promise<void> {
    try {
      await this.timerFile.attach(this.#calls);
      if (this.#isOpen) await this.#calls.open();
    } catch {
      // Its thread died once more, and there is another restart.
    }
  }

  /** What waits below `offset` is stored again at the log's end, and known on disk to be there, before its files go. */
  async #moveBelow(offset: number): Promise<number> {
    if (!this.#isOpen) return 0;
    const reached = await this.#calls.moveBelow(offset);
    const sync = (): Promise<number> => this.flush.flushNow();
    await Promise.all([this.offsets.saveBehind(sync), this.timerFile.saveBehind(sync)]);
    return reached;
  }
}
