import { inject, injectable } from '../../kernel/container.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { AppendGate, StoreDisks } from '../commitlog/contract.js';
import { diskLevel, reclaimPercent, type DiskLevel } from './disk-level.js';

/** Looks at the disks on its own timer: while old files are deleted, which may take long, a disk must not fill unseen (B07). */
@injectable()
export class DiskWatch {
  level: DiskLevel = { full: false, reclaim: false, forced: 0 };

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(StoreDisks) private readonly disks: StoreDisks,
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  /** Measures and draws the consequences for sends; one line per change. */
  async look(): Promise<void> {
    if (this.options.memory) return;
    await this.disks.measure();
    const { diskMaxUsedSpaceRatio, diskSpaceCleanForciblyRatio, diskSpaceWarningLevelRatio } = this.options;
    const { commitLog, consumeQueue } = this.disks;
    const limits = {
      reclaim: reclaimPercent(diskMaxUsedSpaceRatio),
      force: diskSpaceCleanForciblyRatio,
      refuse: diskSpaceWarningLevelRatio,
    };
    const { full } = this.level;
    this.level = diskLevel(commitLog, consumeQueue, limits, this.options.mappedFileSizeCommitLog);
    this.#tellSends();
    if (this.level.full !== full) this.#log();
  }

  #tellSends(): void {
    const limit = (this.options.diskSpaceWarningLevelRatio / 100).toFixed(2);
    this.gate.holdBack(
      this.level.full
        ? `the broker's disk is full [${this.disks.text()}]: sends are refused above ${limit} (diskSpaceWarningLevelRatio)`
        : undefined,
    );
  }

  #log(): void {
    const fields = { disks: this.disks.text(), diskSpaceWarningLevelRatio: this.options.diskSpaceWarningLevelRatio };
    if (this.level.full)
      this.logger.error(fields, 'a disk is full: sends are refused until there is space; reads and dispatch go on');
    else this.logger.info(fields, 'the disks have space again: sends are taken');
  }
}
