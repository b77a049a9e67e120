import type { Clock } from '../../kernel/base/clock.js';
import type { Logger } from '../../kernel/base/logger.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { deliverTimestamp } from '../../store/dispatch/delay-levels.js';
import type { LogReader, MessageWriter } from '../commitlog/contract.js';
import type { QueueEntry, Queues } from '../reput/contract.js';
import type { DelayLevels } from './delays.js';
import { dueMessage } from './delivery.js';

/** After a refused append. */
const RETRY_MS = 200;
/** Timers do not reach further; a longer wait is looked at again in between, which also meets clock steps. */
const WAIT_MS_MAX = 60_000;

export interface CursorNeeds {
  readonly delays: DelayLevels;
  readonly queues: Queues;
  readonly log: LogReader;
  readonly writer: MessageWriter;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Delivers the messages of one level in order: the next one is always the next due, since all of a level wait equally long. */
export class LevelCursor {
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  /** It was woken while it ran. */
  #again = false;
  #stopped = false;

  constructor(
    private readonly level: number,
    private readonly needs: CursorNeeds,
  ) {}

  /** Something may be due: at start, at an arrival, when the timer ends. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#running = this.#run()
      .then((waitMs) => this.#sleep(waitMs))
      .catch((error: unknown) => {
        this.needs.logger.error({ level: this.level, error: String(error) }, 'delayed messages could not be delivered');
        this.#sleep(RETRY_MS);
      });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #sleep(waitMs: number | undefined): void {
    this.#running = undefined;
    if (this.#stopped) return;
    const woken = this.#again;
    this.#again = false;
    // An empty level that grew meanwhile is looked at once more: there may be no other arrival.
    if (waitMs === undefined && woken) return this.wake();
    if (waitMs === undefined) return;
    this.#timer = setTimeout(() => this.wake(), Math.min(waitMs, WAIT_MS_MAX));
  }

  /** Delivers what is due; returns ms until the next is, or undefined when the level is empty. */
  async #run(): Promise<number | undefined> {
    const { delays, queues, clock } = this.needs;
    const queueId = this.level - 1;
    while (!this.#stopped) {
      const offset = this.#nextOffset(queueId);
      const entry = queues.entry(SystemTopic.SCHEDULE, queueId, offset);
      if (entry === undefined) return undefined;
      const due = await this.#due(entry);
      const now = clock.wallMs();
      // 4.9: correctDeliverTimestamp: a due time further away than the level's delay comes from a clock that was set back.
      if (due > now && due <= now + delays.levelsMs[queueId]) return due - now;
      if (!(await this.#deliver(entry.physicalOffset))) return RETRY_MS;
      delays.progress.set(this.level, offset + 1);
    }
    return undefined;
  }

  /** When a message falls due, ms; worked out again when its ext unit is missing (4.9: DeliverDelayedMessageTimerTask). */
  async #due({ tagsCode, physicalOffset }: QueueEntry): Promise<number> {
    if (tagsCode !== undefined) return Number(tagsCode);
    const { delays, log } = this.needs;
    return deliverTimestamp(delays.levelsMs, this.level, await log.storeTimestamp(physicalOffset));
  }

  /** Where delivery goes on. What retention deleted before it was due is passed over, and said. */
  #nextOffset(queueId: number): number {
    const { delays, queues, logger } = this.needs;
    const next = delays.progress.get(this.level) ?? 0;
    const first = queues.minOffset(SystemTopic.SCHEDULE, queueId);
    if (next >= first) return next;
    logger.warn(
      { level: this.level, from: next, to: first },
      'delayed messages were deleted with old files before they were delivered',
    );
    delays.progress.set(this.level, first);
    return first;
  }

  /** False when it must be tried again. */
  async #deliver(physicalOffset: number): Promise<boolean> {
    const { log, writer } = this.needs;
    const record = await log.record(physicalOffset);
    const message = record === undefined ? { problem: 'it is not in the log any more' } : dueMessage(record);
    if ('problem' in message) {
      this.#undeliverable(physicalOffset, message.problem);
      return true;
    }
    const { status, reason } = await writer.append(message);
    if (status === 'tooLarge') this.#undeliverable(physicalOffset, reason);
    return status === 'stored' || status === 'tooLarge';
  }

  /** It stays in the log, and the others of its level go on. */
  #undeliverable(physicalOffset: number, problem: string): void {
    this.needs.logger.error({ level: this.level, physicalOffset, problem }, 'a delayed message cannot be delivered');
  }
}
