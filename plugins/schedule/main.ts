import { join } from 'node:path';
import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Pool } from '../../kernel/threads/contract.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { decodeDelayOffsetTable, encodeDelayOffsetTable } from '../../protocol/bodies/consumer-offset.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { ConfigFile } from '../../store/metadata/config-file.js';
import { replaceFileOn } from '../../workers/pool/handle.js';
import { LogReader, MessageWriter, StoreStatus } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { DelayLevels } from './delays.js';
import { LevelCursor } from './level-cursor.js';

/** Delivers delayed messages when they are due; what was not delivered is read again after a restart. */
@injectable()
export class Schedule implements PluginMain {
  readonly #file: ConfigFile;
  readonly #cursors: LevelCursor[];
  #saving: NodeJS.Timeout | undefined;
  /** Progress of some moment, and the log's end then: it waits until that is synced. */
  #noted: { readonly content: string; readonly end: number } | undefined;

  constructor(
    @inject(DelayLevels) private readonly delays: DelayLevels,
    @inject(Queues) private readonly queues: Queues,
    @inject(LogReader) log: LogReader,
    @inject(MessageWriter) writer: MessageWriter,
    @inject(Options) private readonly options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(Pool) pool: Pool,
    @inject(StoreStatus) private readonly store: StoreStatus,
  ) {
    const path = options.memory ? undefined : join(options.storePathRootDir, 'config', 'delayOffset.json');
    const place = { path, commitLogDir: options.storePathCommitLog };
    this.#file = new ConfigFile(place, nodeFiles, replaceFileOn(pool), logger);
    const needs = { delays, queues, log, writer, clock, logger };
    this.#cursors = delays.levelsMs.map((_, index) => new LevelCursor(index + 1, needs));
  }

  start(): void {
    const stored = this.#file.load((content) => decodeDelayOffsetTable(content));
    for (const [level, offset] of stored ?? []) this.delays.progress.set(level, this.#corrected(level, offset));
    this.queues.onArrival((topic, queueId) => {
      if (topic === SystemTopic.SCHEDULE) this.#cursors[queueId]?.wake();
    });
  }

  open(): void {
    for (const cursor of this.#cursors) cursor.wake();
    this.#saving = setInterval(() => void this.#saveSynced(), this.options.flushDelayOffsetInterval);
  }

  async close(): Promise<void> {
    clearInterval(this.#saving);
    await Promise.all(this.#cursors.map((cursor) => cursor.stop()));
  }

  /** What was delivered is synced right after this, unless the log takes no more. */
  async stop(): Promise<void> {
    if (!this.store.failed) await this.#save(this.#content());
  }

  /** Progress never lies outside of the queue (4.9: ScheduleMessageService#correctDelayOffset). */
  #corrected(level: number, offset: number): number {
    const min = this.queues.minOffset(SystemTopic.SCHEDULE, level - 1);
    const max = this.queues.maxOffset(SystemTopic.SCHEDULE, level - 1);
    const corrected = Math.min(Math.max(offset, min), max);
    if (corrected !== offset) this.logger.warn({ level, offset, corrected }, 'progress of a delay level was corrected');
    return corrected;
  }

  /**
   * Progress reaches the disk behind the deliveries that it counts, never before: a power cut would take those back, and nothing
   * would deliver them again (4.9 writes it as it is).
   */
  async #saveSynced(): Promise<void> {
    this.#noted ??= { content: this.#content(), end: this.store.appended };
    if (this.store.flushed < this.#noted.end) return;
    const { content } = this.#noted;
    this.#noted = undefined;
    await this.#save(content);
  }

  #content(): string {
    return encodeDelayOffsetTable(this.delays.progress).toString();
  }

  async #save(content: string): Promise<void> {
    try {
      await this.#file.save(() => content);
    } catch {
      // The file says so itself, and is tried again.
    }
  }
}
