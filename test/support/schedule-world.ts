import { Ledger, type LedgerMemory } from '../../kernel/ring/ledger.js';
import { LevelWords, type LevelMemory } from '../../kernel/ring/level-words.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { RingReader } from '../../kernel/ring/reader.js';
import { Cursor, type RingMemory, type SlotStatus } from '../../kernel/ring/slots.js';
import { TimerWords } from '../../kernel/ring/timer-words.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { decodeRecords, type StoredMessage } from '../../protocol/message/record.js';
import type { ExtFilesOptions } from '../../store/consumequeue/ext-files.js';
import type { ReputBoot } from '../../workers/reput/contract.js';
import type { ScheduleBoot, TimerSnapshot } from '../../workers/schedule/contract.js';
import createSchedule from '../../workers/schedule/entry.js';
import type { Level } from '../../workers/schedule/level.js';
import type { Scheduler } from '../../workers/schedule/scheduler.js';
import { LogServices, runToRest, STORE } from './log-services.js';
import { LossyFiles } from './lossy-files.js';

const SEGMENT = 1 << 20;

/** The schedule service with writer and dispatcher around it, without threads, on a clock that stands still. */
export class ScheduleWorld {
  readonly disk = new LossyFiles();
  readonly ring: RingMemory;
  readonly store: LogServices;
  readonly ledger: LedgerMemory;
  readonly levels: LevelMemory;
  readonly words: LevelWords;
  readonly timers = TimerWords.allocate();
  /** What the next life begins with. */
  snapshot: TimerSnapshot = { content: undefined, done: 0 };
  readonly appender;
  readonly dispatcher;
  scheduler: Scheduler;
  readonly #ext: ExtFilesOptions;

  constructor(
    private readonly levelsMs: readonly number[] = [1000, 5000],
    { ext = false, ringSlots = 4096, dispatch = {} as Partial<ReputBoot> } = {},
  ) {
    this.store = new LogServices({
      files: this.disk,
      segmentBytes: SEGMENT,
      ringBytes: 1 << 20,
      ringSlots: 4096,
      queueFileBytes: 20_000,
      serviceSlots: ringSlots,
    });
    this.ring = this.store.serviceRing;
    this.ledger = Ledger.allocate(this.ring);
    this.levels = LevelWords.allocate(levelsMs.length);
    this.words = new LevelWords(this.levels);
    this.#ext = { dir: `${STORE}/consumequeue_ext`, fileBytes: 4096, enabled: ext };
    this.appender = this.store.appender();
    this.dispatcher = this.store.dispatcher({ delayLevelsMs: levelsMs, ext: this.#ext, ...dispatch });
    for (const queueId of levelsMs.keys()) this.store.table.register(SystemTopic.SCHEDULE, queueId);
    this.scheduler = this.start();
  }

  get clock() {
    return this.store.clock;
  }

  get lines() {
    return this.store.logger.lines;
  }

  /** A new life of the service; the one before it has ended where it stood. */
  start(): Scheduler {
    const { store, levels, ledger } = this;
    const boot: ScheduleBoot = {
      log: store.log,
      queueDir: store.queueDir,
      queueFileBytes: 20_000,
      queueFilesOpenMax: 8,
      ext: this.#ext,
      delayLevelsMs: this.levelsMs,
      watermarks: store.watermarks.memory,
      queueTable: store.table.memory,
      store: store.serviceEnd(),
      levels,
      ledger,
      timers: this.timers,
    };
    this.scheduler = store.keep(createSchedule(boot, { clock: store.clock, logger: store.logger }) as Scheduler);
    this.scheduler.calls.restoreTimers(this.snapshot);
    this.scheduler.calls.open();
    return this.scheduler;
  }

  /** Stores messages of a level, one for each body; `properties` replaces what says where they go. */
  add(level: number, bodies: readonly string[], properties = 'REAL_TOPIC\u0001T\u0002REAL_QID\u00010'): void {
    for (const body of bodies)
      this.store.put({
        topic: SystemTopic.SCHEDULE,
        queueId: level - 1,
        // As that of a delayed message of a transaction.
        preparedTransactionOffset: 77,
        properties: `DELAY\u0001${level}${properties === '' ? '' : `\u0002${properties}`}`,
        body: Buffer.from(body),
      });
    this.store.append(this.appender);
    runToRest(this.dispatcher);
  }

  /** Stores messages that fall due so many ms from now; their bodies say when. */
  addTimers(inMs: readonly number[], properties = 'REAL_TOPIC\u0001T\u0002REAL_QID\u00010'): void {
    this.store.table.register(SystemTopic.TIMER, 0);
    for (const ms of inMs)
      this.store.put({
        topic: SystemTopic.TIMER,
        queueId: 0,
        properties: `${properties}\u0002TIMER_OUT_MS\u0001${this.clock.wallMs() + ms}`,
        body: Buffer.from(String(ms)),
      });
    this.store.append(this.appender);
    runToRest(this.dispatcher);
  }

  /** Until the service waits for time to pass; returns how long it wants to, ms. */
  run(): number {
    for (;;) {
      const waitMs = this.scheduler.step();
      const wanted = this.scheduler.calls.takeWantedRows();
      for (const { topic, queueId } of wanted) this.store.table.register(topic, queueId);
      if (!this.settle() && wanted.length === 0 && waitMs > 0) return waitMs;
    }
  }

  /** Lets the writer do what was handed over. True when that was something. */
  settle(): boolean {
    const some = this.handedOver !== new Int32Array(this.ring.cursors)[Cursor.completed];
    runToRest(this.appender);
    runToRest(this.dispatcher);
    return some;
  }

  /** As the writer does it, but nothing gets into the log: the oldest units that are handed over end so. */
  endWith(...statuses: readonly SlotStatus[]): void {
    const reader = new RingReader(this.ring);
    for (const [nth, status] of statuses.entries()) reader.setStatus(nth, status);
    reader.complete(statuses.length);
  }

  /** Units that were handed over so far. */
  get handedOver(): number {
    return new Int32Array(this.ring.cursors)[Cursor.published];
  }

  progress(level: number): number {
    return this.words.progress(level - 1);
  }

  level(level: number): Level {
    return this.scheduler.parts.sources[level - 1] as Level;
  }

  /** All records of the log. */
  records(): StoredMessage[] {
    const end = this.store.mark(Watermark.appended);
    return decodeRecords(this.store.logBytes(0, end));
  }

  /** Bodies of what was delivered to a topic, in the log's order. */
  bodies(topic = 'T'): string[] {
    return this.records()
      .filter((record) => record.topic === topic)
      .map(({ body }) => body.toString());
  }

  /** As retention does it. */
  forgetBelow(level: number, offset: number): void {
    this.store.table.set(this.store.table.find(SystemTopic.SCHEDULE, level - 1), QueueWord.minimum, offset);
  }

  [Symbol.dispose](): void {
    this.store.close();
  }
}
