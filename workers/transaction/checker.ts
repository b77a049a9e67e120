import { messageOf } from '../../kernel/base/errors.js';
import { Watermark, Watermarks } from '../../kernel/ring/watermarks.js';
import type { Service, ServiceContext } from '../../kernel/threads/service.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { RecordWindow } from '../../store/commitlog/record-window.js';
import { Segments } from '../../store/commitlog/segments.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { Appends } from './appends.js';
import { CheckWords, type Question, type TransactionBoot, type TransactionCalls } from './contract.js';
import { readFacts } from './half-record.js';
import { HalfLedger } from './ledger.js';
import { HalfState } from './open-halves.js';
import { readOp } from './op-record.js';
import { OpTrail } from './op-trail.js';
import { QueueWalk, type EntryListener } from './queue-walk.js';
import { Unreadable } from './unreadable.js';

/** So often what is new is read while nobody asks. */
const READ_INTERVAL_MS = 1000;
/** Records that one step reads, and halves that it looks at. */
const RECORDS_PER_STEP = 200;
const LOOKS_PER_STEP = 50_000;
/** As many questions wait until the scan does. */
const QUESTIONS_MAX = 4000;
/** Bells end it earlier. */
const WAIT_MS = 100;
const FILES_OPEN_MAX = 8;

/** What a piece of a job waits for: nothing, or that others do something. */
type Pause = 'more' | 'others';
type Job = Generator<Pause, void>;

/**
 * Looks after the halves of transactions that nobody ended (4.9: TransactionalMessageServiceImpl#check). What is new in the two queues is
 * read by and by; a scan, which is asked for, then goes through those that are open.
 */
export class Checker implements Service {
  readonly calls: TransactionCalls;
  /** Nothing of it is in such a hurry that dispatching, on a thread that they share, may not rest. */
  readonly restMs = Infinity;
  readonly #watermarks: Watermarks;
  readonly #words: CheckWords;
  readonly #segments: Segments;
  readonly #queues: QueueFiles;
  readonly #ledger: HalfLedger;
  readonly #appends: Appends;
  readonly #halves: QueueWalk;
  readonly #ops: QueueWalk;
  readonly #trail: OpTrail;
  readonly #opRecords: RecordWindow;
  readonly #halfRecords: RecordWindow;
  readonly #unreadable: Unreadable;
  readonly #jobs: Job[] = [];
  readonly #unasked = new Set<number>();
  #job: Job | undefined;
  /** What the last record that could not be read said. */
  #why = '';
  #readMonoMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly boot: TransactionBoot,
    private readonly context: ServiceContext,
  ) {
    const { log } = boot;
    const files = log.files ?? nodeFiles;
    this.#watermarks = new Watermarks(boot.watermarks);
    this.#words = new CheckWords(boot.words);
    this.#segments = new Segments(files, log.dir, log.temporaryDir, log.segmentBytes);
    this.#queues = new QueueFiles({
      files,
      dir: boot.queueDir,
      temporaryDir: log.temporaryDir,
      fileBytes: boot.queueFileBytes,
      openMax: FILES_OPEN_MAX,
      mode: 'read',
    });
    const { half, op } = this.#words.cursors;
    this.#ledger = new HalfLedger(half);
    this.#appends = new Appends(boot, this.#ledger, context);
    const { table } = this.#appends;
    this.#halves = new QueueWalk(SystemTopic.TRANS_HALF, table, this.#queues, half);
    this.#ops = new QueueWalk(SystemTopic.TRANS_OP_HALF, table, this.#queues, op);
    this.#trail = new OpTrail(op);
    this.#opRecords = new RecordWindow(this.#segments);
    this.#halfRecords = new RecordWindow(this.#segments);
    this.#unreadable = new Unreadable(context.logger);
    this.calls = {
      scan: (groups) => this.#run((done) => this.#scan(new Set(groups), done)),
      moveBelow: (offset) => this.#run((done) => this.#moveBelow(offset, done)),
      takeQuestions: (max) => this.#appends.questions.splice(0, max),
      notAsked: (offsets) => {
        for (const offset of offsets) this.#unasked.add(offset);
      },
      takeWantedRows: this.#appends.takeWantedRows,
    };
  }

  step(): number {
    this.#segments.forgetBelow(this.#watermarks.get(Watermark.logMin));
    if (!this.#appends.isReady) return WAIT_MS;
    this.#appends.collect();
    this.#job ??= this.#jobs.shift() ?? this.#readingDue();
    const pause = this.#piece();
    this.#appends.publish();
    this.#tell();
    if (pause === 'more' || (this.#job === undefined && this.#jobs.length > 0)) return 0;
    if (this.#job !== undefined || this.#appends.isBusy) return WAIT_MS;
    return Math.max(1, this.#readMonoMs + READ_INTERVAL_MS - this.context.clock.monoMs());
  }

  close(): void {
    this.#segments.close();
    this.#queues.close();
  }

  #run<T>(make: (done: (result: T) => void) => Job): Promise<T> {
    return new Promise((resolve) => this.#jobs.push(make(resolve)));
  }

  #readingDue(): Job | undefined {
    const now = this.context.clock.monoMs();
    return now - this.#readMonoMs < READ_INTERVAL_MS ? undefined : this.#read();
  }

  #piece(): Pause | undefined {
    const piece = this.#job?.next();
    if (piece === undefined || piece.done !== true) return piece?.value;
    this.#job = undefined;
    this.#unreadable.end();
    return undefined;
  }

  /** What is on its way is not counted: a restart does it again. */
  #tell(): void {
    const ledger = this.#ledger;
    this.#words.setOpen(ledger.open.count);
    if (ledger.hasLate || !this.#appends.isSettled || this.#job !== undefined) return;
    const half = ledger.cursor;
    this.#words.move(half, this.#trail.settledBelow(half), this.#trail.end);
  }

  /** First the ops: what is in the log for a half that is then read was seen. */
  *#read(): Job {
    this.#readMonoMs = this.context.clock.monoMs();
    this.#appends.retry();
    const [halvesEnd, opsEnd] = [this.#halves.end, this.#ops.end];
    while (this.#ops.next < opsEnd) {
      this.#ops.step(opsEnd, this.#opEntries);
      yield 'more';
    }
    while (this.#halves.next < halvesEnd) {
      this.#halves.step(halvesEnd, this.#halfEntries);
      yield 'more';
    }
    this.#ledger.forgetReplaced();
  }

  readonly #opEntries: EntryListener = {
    entry: (queueOffset, physicalOffset, size) => {
      const op = this.#attempt(this.#opRecords, physicalOffset, size, readOp);
      if (op === undefined || op.half >= this.#halves.assigned) {
        this.#unreadable.add(SystemTopic.TRANS_OP_HALF, queueOffset, `no op can be read there${this.#why}`);
        return this.#trail.add(-1);
      }
      this.#trail.add(op.half);
      this.#ledger.addOp(op);
    },
    gap: (until, why) => {
      this.#unreadable.add(SystemTopic.TRANS_OP_HALF, this.#ops.next, why, until);
      this.#trail.skipTo(until);
    },
  };

  readonly #halfEntries: EntryListener = {
    entry: (queueOffset, physicalOffset, size) => this.#ledger.addHalf(queueOffset, physicalOffset, size),
    gap: (until, why) => {
      this.#unreadable.add(SystemTopic.TRANS_HALF, this.#halves.next, why, until);
      this.#ledger.skipTo(until);
    },
  };

  *#readNew(): Job {
    yield* this.#read();
    yield* this.#learn();
    this.#resolveLate();
  }

  /** Reads the records of those halves that are open still. */
  *#learn(): Job {
    const { open } = this.#ledger;
    let [read, looks] = [0, 0];
    for (let at = open.first; at < open.length; at++) {
      if (open.state(at) === HalfState.unread) {
        this.#learnOne(at);
        read++;
      }
      if (read % RECORDS_PER_STEP === RECORDS_PER_STEP - 1 || ++looks % LOOKS_PER_STEP === 0) {
        read++;
        yield 'more';
      }
    }
  }

  #learnOne(at: number): void {
    const { open } = this.#ledger;
    const rules = { nowMs: this.context.clock.wallMs(), timeoutMs: this.boot.timeoutMs };
    const facts = this.#attempt(this.#halfRecords, open.physical(at), open.size(at), (record) =>
      readFacts(record, rules),
    );
    if (facts === undefined) return this.#giveUp(at);
    this.#ledger.learn(
      at,
      facts,
      (half) => this.#appends.owe(half, 'putBack'),
      (half) => this.#appends.owe(half, 'decided'),
    );
  }

  /** It cannot be asked about, and must not stop the others. */
  #giveUp(at: number): void {
    const { open } = this.#ledger;
    this.#unreadable.add(SystemTopic.TRANS_HALF, open.offset(at), `no half message can be read there${this.#why}`);
    open.close(at);
  }

  #resolveLate(): void {
    for (const half of this.#ledger.takeLate()) {
      const entry = this.#halves.at(half);
      const facts =
        entry === undefined
          ? undefined
          : this.#attempt(this.#halfRecords, entry.physicalOffset, entry.size, (record) =>
              readFacts(record, { nowMs: 0, timeoutMs: 0 }),
            );
      if (facts !== undefined) this.#ledger.decide(facts.origin, (copy) => this.#appends.owe(copy, 'decided'));
    }
  }

  *#scan(live: ReadonlySet<string>, done: () => void): Job {
    yield* this.#readNew();
    const { open } = this.#ledger;
    const end = open.length;
    let expired = 0;
    for (let at = open.first; at < end; at++) {
      const due = this.#dueFor(at, live);
      if (due !== undefined) {
        while (this.#appends.questions.length >= QUESTIONS_MAX) yield 'others';
        while (!(due === 'question' ? this.#ask(at) : this.#expire(at))) yield 'others';
        if (due === 'expiry') expired++;
      }
      if ((at + 1) % RECORDS_PER_STEP === 0) yield 'more';
    }
    yield* this.#storing();
    if (expired > 0)
      this.context.logger.warn(
        { halves: expired, topic: SystemTopic.TRANS_CHECK_MAX_TIME, transactionCheckMax: this.boot.checkMax },
        'half messages that nobody decided were given up: they are in that topic',
      );
    yield* this.#narrow();
    done();
  }

  #dueFor(at: number, live: ReadonlySet<string>): 'question' | 'expiry' | undefined {
    const { open } = this.#ledger;
    const now = this.context.clock.wallMs();
    if (open.state(at) !== HalfState.known) return undefined;
    if (this.#unasked.has(open.offset(at))) return live.has(open.group(at)) ? 'question' : undefined;
    if (open.checks(at) >= this.boot.checkMax || now - open.bornMs(at) > this.boot.reservedMs) return 'expiry';
    return open.dueMs(at) <= now && live.has(open.group(at)) ? 'question' : undefined;
  }

  /** False while there is no room. */
  #ask(at: number): boolean {
    const { open } = this.#ledger;
    const question: Question = {
      queueOffset: open.offset(at),
      physicalOffset: open.physical(at),
      origin: open.origin(at),
    };
    if (this.#unasked.delete(question.queueOffset)) {
      this.#appends.ask(question);
      return true;
    }
    const put = this.#copy(at, true);
    if (put !== 'impossible') return put === 'put';
    // Its record is as large as one can be: the count stays in memory.
    open.countCheck(at);
    this.#appends.ask(question);
    return true;
  }

  #copy(at: number, ask: boolean): ReturnType<Appends['copy']> {
    const record = this.#halfAt(at);
    if (record !== undefined) return this.#appends.copy(at, record, ask);
    this.#giveUp(at);
    return 'put';
  }

  #expire(at: number): boolean {
    const record = this.#halfAt(at);
    const put = record === undefined ? 'impossible' : this.#appends.expire(at, record);
    if (put !== 'impossible') return put === 'put';
    const queueOffset = this.#ledger.open.offset(at);
    this.context.logger.error({ queueOffset }, 'a half message was given up that cannot be stored once more');
    this.#appends.owe(queueOffset, 'expired');
    return true;
  }

  #halfAt(at: number): Buffer | undefined {
    const { open } = this.#ledger;
    return this.#attempt(this.#halfRecords, open.physical(at), open.size(at), (record) => record);
  }

  /** Until all that was put is stored, or refused. */
  *#storing(): Job {
    while (this.#appends.isBusy) yield 'others';
    const refused = this.#appends.takeRefused();
    if (refused > 0)
      this.context.logger.warn(
        { refused },
        'the log did not take what the transaction check stores; it is tried again',
      );
  }

  /** A few that stay open for long must not make a restart read everything that came after them. */
  *#narrow(): Job {
    const { open, cursor, end } = this.#ledger;
    if (end - cursor <= Math.max(this.boot.windowMax, 4 * open.count)) return;
    yield* this.#move(open.physical((open.first + open.length) >>> 1) + 1);
  }

  *#moveBelow(offset: number, done: (reached: number) => void): Job {
    yield* this.#readNew();
    yield* this.#move(offset);
    const { open } = this.#ledger;
    let reached = offset;
    for (let at = open.first; at < open.length && open.physical(at) < reached; at++)
      if (open.state(at) < HalfState.closing) reached = open.physical(at);
    done(reached);
  }

  *#move(offset: number): Job {
    const { open } = this.#ledger;
    const end = open.length;
    for (let at = open.first; at < end && open.physical(at) < offset; at++) {
      if (open.state(at) !== HalfState.known) continue;
      let put = this.#copy(at, false);
      for (; put === 'full'; put = this.#copy(at, false)) yield 'others';
      if ((at + 1) % RECORDS_PER_STEP === 0) yield 'more';
    }
    yield* this.#storing();
  }

  /** What the record there says; undefined when there is none, or none that can be read. */
  #attempt<T>(window: RecordWindow, physicalOffset: number, size: number, read: (record: Buffer) => T): T | undefined {
    this.#why = '';
    try {
      const record = window.read(physicalOffset, size, this.#watermarks.get(Watermark.appended));
      return record === undefined ? undefined : read(record);
    } catch (error) {
      this.#why = `: ${messageOf(error)}`;
      return undefined;
    }
  }
}
