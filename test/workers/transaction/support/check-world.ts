import { SystemTopic } from '../../../../protocol/message/names.js';
import { decodeRecord, type StoredMessage } from '../../../../protocol/message/record.js';
import { propertyOf, PropertyName } from '../../../../protocol/message/properties.js';
import { QueueWord } from '../../../../kernel/ring/queue-table.js';
import { Watermark } from '../../../../kernel/ring/watermarks.js';
import { QueueFiles } from '../../../../store/consumequeue/queue-files.js';
import { UNIT_BYTES, unitPhysicalOffset, unitSize } from '../../../../store/consumequeue/unit.js';
import type { StoreFiles } from '../../../../store/files/contract.js';
import { MemoryFiles } from '../../../../store/files/memory-files.js';
import { Checker } from '../../../../workers/transaction/checker.js';
import { CheckWords, type Question, type TransactionBoot } from '../../../../workers/transaction/contract.js';
import type { Appender } from '../../../../workers/commitlog/appender.js';
import type { Dispatcher } from '../../../../workers/reput/dispatcher.js';
import { LogServices, type LogServicesOptions } from '../../../support/log-services.js';
import type { TestRecord } from '../../../support/records.js';
import { propertyText } from '../../../support/send-pull.js';

const ROUNDS_MAX = 10_000;

export interface CheckWishes extends Partial<Omit<LogServicesOptions, 'files'>> {
  readonly files?: StoreFiles;
  readonly boot?: Partial<TransactionBoot>;
}

/** A log, its queues, and the transaction check over them; each test steps them itself, on a clock that stands still. */
export class CheckWorld implements Disposable {
  readonly services: LogServices;
  readonly appender: Appender;
  readonly dispatcher: Dispatcher;
  readonly words = CheckWords.allocate(0, 0);
  checker: Checker;
  readonly #boot: Partial<TransactionBoot>;

  constructor({ boot = {}, files = new MemoryFiles(256 * 1024 * 1024), ...more }: CheckWishes = {}) {
    this.services = new LogServices({
      files,
      segmentBytes: 1024 * 1024,
      ringBytes: 1024 * 1024,
      ringSlots: 1024,
      queueFileBytes: 20_000,
      ...more,
    });
    this.appender = this.services.appender();
    this.dispatcher = this.services.dispatcher();
    this.#boot = boot;
    this.checker = this.#check();
  }

  get clock() {
    return this.services.clock;
  }

  get cursors() {
    return new CheckWords(this.words).cursors;
  }

  get open(): number {
    return new CheckWords(this.words).open;
  }

  [Symbol.dispose](): void {
    this.checker.close();
    this.services.close();
  }

  /** A half message as a producer's send stores it; returns its queue offset. */
  half(properties: Readonly<Record<string, string>> = {}, body = Buffer.from('body')): number {
    const text = propertyText({
      TRAN_MSG: 'true',
      PGROUP: 'PG',
      UNIQ_KEY: 'K',
      ...properties,
      REAL_TOPIC: 'T',
      REAL_QID: '3',
    });
    return this.#append({
      topic: SystemTopic.TRANS_HALF,
      properties: text,
      bornTimestamp: this.clock.wallMs(),
      body,
    });
  }

  /** An op as the end of a transaction stores it. */
  op(half: number): number {
    return this.#append({
      topic: SystemTopic.TRANS_OP_HALF,
      body: Buffer.from(String(half)),
      properties: 'WAIT\u0001true\u0002TAGS\u0001d',
    });
  }

  /** Many halves, each with its op right behind it. */
  settledHalves(count: number): void {
    for (let i = 0; i < count; i++) this.op(this.half());
  }

  /** Until nobody has anything to do. */
  rest(): void {
    // What the last one of a round hands over shows in the next round.
    for (let [i, quiet] = [0, 0]; i < ROUNDS_MAX; i++) {
      const before = this.#marks();
      const waits = [this.appender, this.dispatcher, this.checker].map((service) => service.step());
      for (const { topic, queueId } of this.checker.calls.takeWantedRows())
        this.services.table.register(topic, queueId);
      quiet = Math.min(...waits) > 0 && before === this.#marks() ? quiet + 1 : 0;
      if (quiet === 2) return;
    }
    throw new Error('the services find no rest');
  }

  /** A scan with these groups alive, to its end; `timeMs` after the last one. */
  async scan(timeMs = 1000, groups: readonly string[] = ['PG']): Promise<readonly Question[]> {
    this.clock.advance(timeMs);
    const questions: Question[] = [];
    await this.#ended(this.checker.calls.scan(groups), () => questions.push(...this.checker.calls.takeQuestions(1000)));
    return questions;
  }

  moveBelow(offset: number): Promise<number> {
    return this.#ended(this.checker.calls.moveBelow(offset));
  }

  /** What came last is read, too. */
  readAll(): void {
    this.clock.advance(1000);
    this.rest();
  }

  async #ended<T>(call: Promise<T>, between: () => void = () => undefined): Promise<T> {
    let ended = false;
    void call.then(() => (ended = true));
    for (let i = 0; !ended && i < ROUNDS_MAX; i++) {
      this.rest();
      between();
      await Promise.resolve();
    }
    this.rest();
    return call;
  }

  /** The thread died, or the process; `words` are what the next life is told. */
  restart(): void {
    this.checker.close();
    this.checker = this.#check();
    this.rest();
  }

  /** What is visible in queue 0 of the topic. */
  stored(topic: string): StoredMessage[] {
    const { table, queueDir, log } = this.services;
    const row = table.find(topic, 0);
    if (row < 0) return [];
    const { temporaryDir, files } = log;
    const queues = new QueueFiles({ files, dir: queueDir, temporaryDir, fileBytes: 20_000, openMax: 4, mode: 'read' });
    const units = queues.read(topic, 0, 0, table.get(row, QueueWord.dispatched));
    queues.close();
    return Array.from({ length: units.length / UNIT_BYTES }, (_, i) => {
      const [from, size] = [unitPhysicalOffset(units, i * UNIT_BYTES), unitSize(units, i * UNIT_BYTES)];
      return decodeRecord(this.services.logBytes(from, from + size), 0);
    });
  }

  halves(): StoredMessage[] {
    return this.stored(SystemTopic.TRANS_HALF);
  }

  /** Queue offsets of the halves that ops name, in the order of the ops. */
  ops(): number[] {
    return this.stored(SystemTopic.TRANS_OP_HALF).map(({ body }) => Number(body.toString()));
  }

  checksOf(half: number): string | undefined {
    return propertyOf(this.halves()[half].properties, PropertyName.TRANSACTION_CHECK_TIMES);
  }

  #append(record: Omit<TestRecord, 'physicalOffset'>): number {
    while (!this.services.put(record)) throw new Error('the ring is full');
    const [{ queueOffset }] = this.services.append(this.appender);
    return queueOffset;
  }

  #check(): Checker {
    const { log, queueDir, watermarks, table } = this.services;
    return new Checker(
      {
        log,
        queueDir,
        queueFileBytes: 20_000,
        watermarks: watermarks.memory,
        queueTable: table.memory,
        end: this.services.serviceEnd(),
        words: this.words,
        host: { address: Buffer.from([127, 0, 0, 1]), port: 10911 },
        timeoutMs: 6000,
        checkMax: 15,
        reservedMs: 72 * 3_600_000,
        windowMax: 1_000_000,
        ...this.#boot,
      },
      { clock: this.clock, logger: this.services.logger },
    );
  }

  #marks(): string {
    return [Watermark.appended, Watermark.dispatched].map((mark) => this.services.mark(mark)).join();
  }
}
