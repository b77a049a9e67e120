import { inject, injectable } from '../../kernel/container.js';
import { messageOf } from '../../kernel/base/errors.js';
import type { Remote } from '../../kernel/threads/contract.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { decodeTimerProgress } from '../../store/schedule/timer-progress.js';
import type { ScheduleCalls, TimerSnapshot } from '../../workers/schedule/contract.js';
import { StoreStatus } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { TimerProgressFile } from './timer-progress-file.js';

/** `timerProgress.json`: which messages with a delivery time of their own are pending, on disk and for the service's next life. */
@injectable()
export class TimerFile {
  #calls: Remote<ScheduleCalls> | undefined;
  #latest: TimerSnapshot = { content: undefined, done: 0 };
  #saving: NodeJS.Timeout | undefined;
  /** What was pending at some moment, and the log's end then: it waits until that is synced. */
  #noted: { readonly content: string | undefined; readonly end: number } | undefined;
  #saved: string | undefined;

  constructor(
    @inject(Queues) private readonly queues: Queues,
    @inject(StoreStatus) private readonly store: StoreStatus,
    @inject(Options) private readonly options: Options,
    @inject(TimerProgressFile) private readonly file: TimerProgressFile,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  load(): void {
    this.#latest = { content: this.#load(), done: 0 };
  }

  /** At the beginning of each life of the service. */
  async attach(calls: Remote<ScheduleCalls>): Promise<void> {
    this.#calls = calls;
    await calls.restoreTimers(this.#latest);
  }

  saveRegularly(): void {
    this.#saving = setInterval(() => void this.saveSynced(), this.options.flushDelayOffsetInterval);
  }

  /** Saves what is pending now, when `sync` has brought to disk what was delivered. */
  async saveBehind(sync: () => Promise<unknown>): Promise<void> {
    const { content } = await this.#look();
    this.#noted = undefined;
    await sync();
    await this.#save(content);
  }

  /** Nothing is delivered any more; the service still runs. */
  async note(): Promise<void> {
    clearInterval(this.#saving);
    try {
      await this.#look();
    } catch {
      // Its thread died: what it delivered since the last look comes again.
    }
  }

  /** What was delivered is synced, unless the log takes no more. */
  async close(): Promise<void> {
    if (!this.store.failed) await this.#save(this.#latest.content);
    await this.file.settled();
  }

  #load(): string | undefined {
    const [first, end] = [this.queues.minOffset(SystemTopic.TIMER, 0), this.queues.maxOffset(SystemTopic.TIMER, 0)];
    let problem = 'there is none';
    try {
      const stored = this.file.load((content) => ({ text: content.toString(), ...decodeTimerProgress(content) }));
      if (stored !== undefined && stored.end <= end) return stored.text;
      if (stored !== undefined) problem = `it is of another store: it counts ${stored.end} messages, there are ${end}`;
    } catch (error) {
      problem = messageOf(error);
    }
    if (end > first)
      this.logger.warn(
        { file: 'timerProgress.json', problem, messages: end - first },
        'which messages with a delivery time of their own were delivered is not known: all that are still stored are, some of them again',
      );
    return undefined;
  }

  async #look(): Promise<TimerSnapshot> {
    this.#latest = await this.#calls!.timers();
    return this.#latest;
  }

  /** Behind the deliveries that it counts, never before: a power cut would take those back, and nothing would deliver them again. */
  async saveSynced(): Promise<void> {
    try {
      // In this order: what was delivered lies before the end.
      const { content } = await this.#look();
      this.#noted ??= { content, end: this.store.appended };
    } catch {
      // Its thread died; the next life is asked.
    }
    if (this.#noted === undefined || this.store.flushed < this.#noted.end) return;
    const { content } = this.#noted;
    this.#noted = undefined;
    await this.#save(content);
  }

  async #save(content: string | undefined): Promise<void> {
    if (content === undefined || content === this.#saved) return;
    try {
      await this.file.save(() => content);
      this.#saved = content;
    } catch {
      // The file says so itself, and is tried again.
    }
  }
}
