import { inject, injectable } from '../../kernel/container.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { decodeDelayOffsetTable, encodeDelayOffsetTable } from '../../protocol/bodies/consumer-offset.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { StoreStatus } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { DelayOffsetsFile } from './delay-offsets-file.js';
import { DelayLevels } from './delays.js';

/** `delayOffset.json`: how far each delay level is, on disk. */
@injectable()
export class DelayOffsets {
  #saving: NodeJS.Timeout | undefined;
  /** Progress of some moment, and the log's end then: it waits until that is synced. */
  #noted: { readonly content: string; readonly end: number } | undefined;

  constructor(
    @inject(DelayLevels) private readonly levels: DelayLevels,
    @inject(Queues) private readonly queues: Queues,
    @inject(StoreStatus) private readonly store: StoreStatus,
    @inject(Options) private readonly options: Options,
    @inject(DelayOffsetsFile) private readonly file: DelayOffsetsFile,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  load(): void {
    const stored = this.file.load((content) => decodeDelayOffsetTable(content));
    for (const [level, offset] of stored ?? []) this.levels.setOffset(level, this.#corrected(level, offset));
    this.#nameUndelivered();
  }

  saveRegularly(): void {
    this.#saving = setInterval(() => void this.saveSynced(), this.options.flushDelayOffsetInterval);
  }

  /** Saves the progress of now, when `sync` has brought to disk what was delivered. */
  async saveBehind(sync: () => Promise<unknown>): Promise<void> {
    const content = this.#content();
    this.#noted = undefined;
    await sync();
    await this.#save(content);
  }

  /** What was delivered is synced, unless the log takes no more. */
  async close(): Promise<void> {
    clearInterval(this.#saving);
    if (!this.store.failed) await this.#save(this.#content());
  }

  /** Progress never lies outside of the queue (4.9: ScheduleMessageService#correctDelayOffset). */
  #corrected(level: number, offset: number): number {
    // 4.9 looks at no other levels.
    if (level < 1 || level > this.levels.levelsMs.length) return offset;
    const min = this.queues.minOffset(SystemTopic.SCHEDULE, level - 1);
    const max = this.queues.maxOffset(SystemTopic.SCHEDULE, level - 1);
    const corrected = Math.min(Math.max(offset, min), max);
    if (corrected !== offset) this.logger.warn({ level, offset, corrected }, 'progress of a delay level was corrected');
    return corrected;
  }

  /** With a shorter table than before, nobody delivers what waits in the levels that are gone. 4.9 says nothing. */
  #nameUndelivered(): void {
    const levels = this.levels.levelsMs.length;
    const offsets = this.levels.offsets();
    for (const queueId of this.queues.idsOf(SystemTopic.SCHEDULE)) {
      const waiting = this.queues.maxOffset(SystemTopic.SCHEDULE, queueId) - (offsets.get(queueId + 1) ?? 0);
      if (queueId >= levels && waiting > 0)
        this.logger.warn(
          { level: queueId + 1, levels, waiting },
          'messages wait in a delay level that messageDelayLevel does not have any more: they stay until it has it again',
        );
    }
  }

  /**
   * Progress reaches the disk behind the deliveries that it counts, never before: a power cut would take those back, and nothing
   * would deliver them again (4.9 writes it as it is).
   */
  async saveSynced(): Promise<void> {
    // In this order: what is counted lies before the end.
    this.#noted ??= { content: this.#content(), end: this.store.appended };
    if (this.store.flushed < this.#noted.end) return;
    const { content } = this.#noted;
    this.#noted = undefined;
    await this.#save(content);
  }

  #content(): string {
    return encodeDelayOffsetTable(this.levels.offsets()).toString();
  }

  async #save(content: string): Promise<void> {
    try {
      await this.file.save(() => content);
    } catch {
      // The file says so itself, and is tried again.
    }
  }
}
