import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Options } from '../../kernel/tokens.js';
import { RequestRouter } from '../remoting/contract.js';
import { CleanHandlers } from './clean-handlers.js';
import { DiskWatch } from './disk-watch.js';
import { LogCleaner } from './log-cleaner.js';
import { MemoryRoom } from './memory-room.js';
import { Pause } from './pause.js';
import { QueueCleaner } from './queue-cleaner.js';

/** Keeps the store within its time and its disk: old files go, and while a disk is full nothing new is taken. */
@injectable()
export class Retention implements PluginMain {
  #checking: NodeJS.Timeout | undefined;
  #cleaning: NodeJS.Timeout | undefined;

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(RequestRouter) private readonly router: RequestRouter,
    @inject(CleanHandlers) private readonly handlers: CleanHandlers,
    @inject(DiskWatch) private readonly disks: DiskWatch,
    @inject(LogCleaner) private readonly cleaner: LogCleaner,
    @inject(QueueCleaner) private readonly queueCleaner: QueueCleaner,
    @inject(MemoryRoom) private readonly memory: MemoryRoom,
    @inject(Pause) private readonly pause: Pause,
  ) {}

  async start(): Promise<void> {
    this.handlers.register(this.router);
    this.memory.whenShort(() => void this.cleaner.run());
    await this.disks.look();
    this.#checking = setInterval(() => void this.#check(), this.options.diskCheckIntervalMs);
  }

  open(): void {
    this.#cleaning = setInterval(() => void this.cleaner.run(), this.options.cleanResourceInterval);
  }

  async stop(): Promise<void> {
    clearInterval(this.#checking);
    clearInterval(this.#cleaning);
    this.pause.end();
    await this.cleaner.stop();
    await this.queueCleaner.stop();
  }

  /** A disk that is so full does not wait for the next pass. */
  async #check(): Promise<void> {
    await this.disks.look();
    if (this.disks.level.forced > 0 && this.options.cleanFileForciblyEnable) await this.cleaner.run();
  }
}
