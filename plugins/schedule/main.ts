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
import { LogReader, MessageWriter } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { DelayLevels } from './delays.js';
import { LevelCursor } from './level-cursor.js';

/** Delivers delayed messages when they are due; what was not delivered is read again after a restart. */
@injectable()
export class Schedule implements PluginMain {
  readonly #file: ConfigFile;
  readonly #cursors: LevelCursor[];
  #saving: NodeJS.Timeout | undefined;

  constructor(
    @inject(DelayLevels) private readonly delays: DelayLevels,
    @inject(Queues) private readonly queues: Queues,
    @inject(LogReader) log: LogReader,
    @inject(MessageWriter) writer: MessageWriter,
    @inject(Options) private readonly options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(Pool) pool: Pool,
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
    this.#saving = setInterval(() => void this.#save(), this.options.flushDelayOffsetInterval);
  }

  async close(): Promise<void> {
    clearInterval(this.#saving);
    await Promise.all(this.#cursors.map((cursor) => cursor.stop()));
  }

  async stop(): Promise<void> {
    await this.#save();
  }

  /** Progress never lies outside of the queue (4.9: ScheduleMessageService#correctDelayOffset). */
  #corrected(level: number, offset: number): number {
    const min = this.queues.minOffset(SystemTopic.SCHEDULE, level - 1);
    const max = this.queues.maxOffset(SystemTopic.SCHEDULE, level - 1);
    const corrected = Math.min(Math.max(offset, min), max);
    if (corrected !== offset) this.logger.warn({ level, offset, corrected }, 'progress of a delay level was corrected');
    return corrected;
  }

  async #save(): Promise<void> {
    try {
      await this.#file.save(() => encodeDelayOffsetTable(this.delays.progress).toString());
    } catch {
      // The file says so itself, and is tried again.
    }
  }
}
