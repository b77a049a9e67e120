import { messageOf } from '../../../kernel/base/errors.js';
import { inject, injectable } from '../../../kernel/container.js';
import type { PluginMain } from '../../../kernel/plugin.js';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { callsOf, ThreadHost, type Remote } from '../../../kernel/threads/contract.js';
import type { RunningService } from '../../../kernel/threads/service.js';
import { Logger, Options } from '../../../kernel/tokens.js';
import { Perm } from '../../../protocol/codes.js';
import { SystemTopic } from '../../../protocol/message/names.js';
import { queueFileBytes } from '../../../store/consumequeue/unit.js';
import { CheckWords, type TransactionBoot, type TransactionCalls } from '../../../workers/transaction/contract.js';
import { startTransaction } from '../../../workers/transaction/handle.js';
import { AppendGate, StoreEnds, StoreHost, StoreState } from '../../commitlog/contract.js';
import { LogFlush } from '../../flush/contract.js';
import { Offsets } from '../../offsets/contract.js';
import { Queues } from '../../reput/contract.js';
import { RecordKeepers } from '../../retention/contract.js';
import { Topics } from '../../topics/contract.js';
import { Asking } from './asking.js';
import { Decided, Halves } from '../contract.js';

/** 4.9: MixAll.CID_SYS_RMQ_TRANS. */
const GROUP = 'CID_RMQ_SYS_TRANS';
const HOUR_MS = 3_600_000;
const LOOK_MS = 1000;
const QUESTIONS_PER_CALL = 1000;
/** Entries of a queue; reading them again takes a restart about a second. */
const WINDOW_MAX = 1_000_000;

/** Runs the transaction check: asks producers about halves that nobody ended, and keeps its progress as 4.9 does. */
@injectable()
export class Check implements PluginMain {
  #service: RunningService | undefined;
  /** The service starts when there is a half for it: its thread costs memory, and most brokers have none. */
  #starting: Promise<void> | undefined;
  #words: CheckWords | undefined;
  #looking: NodeJS.Timeout | undefined;
  #scanning: NodeJS.Timeout | undefined;
  /** Progress of some moment, and the log's end then: it waits until that is synced. */
  #noted: { readonly half: number; readonly op: number; readonly end: number } | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(StoreEnds) private readonly ends: StoreEnds,
    @inject(StoreHost) private readonly host: StoreHost,
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(LogFlush) private readonly flush: LogFlush,
    @inject(Queues) private readonly queues: Queues,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Topics) private readonly topics: Topics,
    @inject(RecordKeepers) private readonly keepers: RecordKeepers,
    @inject(Halves) private readonly halves: Halves,
    @inject(Decided) private readonly decided: Decided,
    @inject(Asking) private readonly asking: Asking,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) private readonly options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  async start(): Promise<void> {
    const [half, op] = [this.#saved(SystemTopic.TRANS_HALF), this.#saved(SystemTopic.TRANS_OP_HALF)];
    this.#words = new CheckWords(CheckWords.allocate(half, op));
    this.keepers.add('half messages', (offset) => this.#moveBelow(offset));
    if (this.#isNeeded()) await this.#run();
  }

  /** There are halves that were not looked at. */
  #isNeeded(): boolean {
    const { queueTable } = this.state;
    const row = queueTable.find(SystemTopic.TRANS_HALF, 0);
    return row >= 0 && queueTable.get(row, QueueWord.next) > this.#words!.cursors.half;
  }

  async #run(): Promise<void> {
    const { options, state } = this;
    const end = this.ends.memoryOf('transaction');
    const boot: TransactionBoot = {
      log: state.log,
      queueDir: state.paths.consumeQueue,
      queueFileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
      watermarks: state.watermarks.memory,
      queueTable: state.queueTable.memory,
      end,
      words: this.#words!.memory,
      host: { address: this.host.address, port: this.host.port },
      timeoutMs: options.transactionTimeOut,
      checkMax: options.transactionCheckMax,
      reservedMs: options.fileReservedTime * HOUR_MS,
      windowMax: WINDOW_MAX,
    };
    this.#service = await startTransaction(this.threads, boot);
    this.ends.serve(this.#service, end, () => this.#mail());
  }

  async #runWhenNeeded(): Promise<void> {
    if (this.#service === undefined && this.#isNeeded()) this.#starting ??= this.#runLater();
    await this.#starting;
  }

  async #runLater(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      this.logger.error({ error: messageOf(error) }, 'the transaction check does not start; it is tried again');
    } finally {
      this.#starting = undefined;
    }
  }

  open(): void {
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#scanLater();
  }

  close(): void {
    clearTimeout(this.#scanning);
    clearInterval(this.#looking);
    this.#scanning = undefined;
  }

  /** Progress that is not synced is not kept. */
  async stop(): Promise<void> {
    await this.#starting;
    if (this.#service === undefined) return;
    try {
      this.#noted = undefined;
      this.#note();
      await this.flush.flushNow();
      this.#save();
    } catch {
      // The log takes no more: what is not saved is read again.
    }
    await this.#service.stop();
  }

  get #calls(): Remote<TransactionCalls> {
    return callsOf<TransactionCalls>(this.#service!);
  }

  /** Where the queue is read from on (4.9: TransactionalMessageBridge#fetchConsumeOffset). */
  #saved(topic: string): number {
    const [min, max] = [this.queues.minOffset(topic, 0), this.queues.maxOffset(topic, 0)];
    return Math.min(Math.max(this.offsets.query(GROUP, topic, 0), min), max);
  }

  #scanLater(): void {
    this.#scanning = setTimeout(() => {
      void this.#scan().then(() => {
        if (this.#scanning !== undefined) this.#scanLater();
      });
    }, this.options.transactionCheckInterval).unref();
  }

  async #scan(): Promise<void> {
    // What is asked about is stored before: that has to wait until the log takes messages.
    if (this.gate.readOnlyReason !== undefined) return;
    await this.#runWhenNeeded();
    if (this.#service === undefined) return;
    try {
      await this.#calls.scan(this.asking.liveGroups());
    } catch (error) {
      this.logger.warn({ error: messageOf(error) }, 'half messages could not be checked; the next check does it');
    }
  }

  #look(): void {
    void this.#runWhenNeeded();
    const { open } = this.#words!;
    const { transactionOpenMax } = this.options;
    this.halves.holdBack(
      open < transactionOpenMax
        ? undefined
        : `${open} half messages are not decided: no more are taken (transactionOpenMax)`,
    );
    this.decided.opsRead(this.#words!.cursors.opsRead);
    this.#note();
    if (this.#noted !== undefined && this.state.watermarks.get(Watermark.flushed) >= this.#noted.end) this.#save();
  }

  /** What the cursors count stands in the log below its end of now. */
  #note(): void {
    const { half, op } = this.#words!.cursors;
    this.#noted ??= { half, op, end: this.state.watermarks.get(Watermark.appended) };
  }

  #save(): void {
    const { half = 0, op = 0 } = this.#noted ?? {};
    this.#noted = undefined;
    for (const [topic, offset] of [
      [SystemTopic.TRANS_HALF, half],
      [SystemTopic.TRANS_OP_HALF, op],
    ] as const)
      if (offset > Math.max(0, this.offsets.query(GROUP, topic, 0)))
        this.offsets.commit('transaction check', GROUP, topic, 0, offset);
  }

  async #mail(): Promise<void> {
    if (this.state.queueTable.find(SystemTopic.TRANS_CHECK_MAX_TIME, 0) >= 0)
      this.topics.createInternal(SystemTopic.TRANS_CHECK_MAX_TIME, 1, Perm.READ | Perm.WRITE, 0);
    for (;;) {
      const questions = await this.#calls.takeQuestions(QUESTIONS_PER_CALL);
      if (questions.length === 0) return;
      const notAsked = await this.asking.ask(questions);
      if (notAsked.length > 0) await this.#calls.notAsked(notAsked);
    }
  }

  async #moveBelow(offset: number): Promise<number> {
    await this.#runWhenNeeded();
    if (this.#service === undefined) return this.#isNeeded() ? 0 : offset;
    const reached = await this.#calls.moveBelow(offset);
    await this.flush.flushNow();
    return reached;
  }
}
