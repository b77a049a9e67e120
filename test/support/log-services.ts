import { allocateRing, type RingMemory, type SlotStatus } from '../../kernel/ring/slots.js';
import { Mailbox } from '../../kernel/ring/mailbox.js';
import type { StoreEndMemory } from '../../kernel/ring/store-end.js';
import { ArrivalRing } from '../../kernel/ring/arrivals.js';
import { QueueTable } from '../../kernel/ring/queue-table.js';
import { Doorbell } from '../../kernel/ring/wait.js';
import { Watermark, Watermarks } from '../../kernel/ring/watermarks.js';
import { RingWriter } from '../../kernel/ring/writer.js';
import type { Service } from '../../kernel/threads/service.js';
import { physicalOffsetAt, queueOffsetAt } from '../../protocol/message/stamped.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { Appender } from '../../workers/commitlog/appender.js';
import type { LogLocation } from '../../workers/commitlog/contract.js';
import type { FlushBoot } from '../../workers/flush/contract.js';
import { Flusher } from '../../workers/flush/flusher.js';
import type { ReputBoot } from '../../workers/reput/contract.js';
import { Dispatcher } from '../../workers/reput/dispatcher.js';
import type { FilterBitmaps } from '../../workers/reput/filter-bitmaps.js';
import { FakeClock } from './fake-clock.js';
import { recordingLogger } from './recording-logger.js';
import { testRecord, type TestRecord } from './records.js';

export const STORE = '/store';
const BELLS = { network: 0, flush: 1, reput: 2, service: 3 } as const;

/** What became of a unit that was put into the ring. */
export interface Settled {
  readonly status: SlotStatus;
  /** Of its first record. */
  readonly queueOffset: number;
  readonly physicalOffset: number;
}

export interface LogServicesOptions {
  readonly files: StoreFiles;
  readonly segmentBytes?: number;
  readonly ringBytes?: number;
  readonly ringSlots?: number;
  /** Of the service's ring; as many as the other one when left out. */
  readonly serviceSlots?: number;
  readonly queueFileBytes?: number;
  readonly clearAheadBytes?: number;
}

/** The log's services without threads, over one set of shared memory: each test steps them itself, on a clock that stands still. */
export class LogServices {
  readonly clock = new FakeClock();
  readonly logger = recordingLogger();
  readonly watermarks = new Watermarks(Watermarks.allocate());
  readonly table = new QueueTable(QueueTable.allocate(4096));
  readonly arrivals = ArrivalRing.allocate(1024);
  readonly log: LogLocation & { readonly files: StoreFiles };
  readonly ring: RingMemory;
  readonly writer: RingWriter;
  /** Of a service that stores messages itself. */
  readonly serviceRing: RingMemory;
  readonly #bells = new Int32Array(new SharedArrayBuffer(4 * Doorbell.wordsPerBell * 4));
  readonly #queueFileBytes: number;
  readonly #clearAheadBytes: number;
  readonly #open: Service[] = [];

  constructor({
    files,
    segmentBytes = 4096,
    ringBytes = 65_536,
    ringSlots = 64,
    serviceSlots = ringSlots,
    queueFileBytes = 200,
    clearAheadBytes = 0,
  }: LogServicesOptions) {
    this.#clearAheadBytes = clearAheadBytes;
    this.log = { dir: `${STORE}/commitlog`, temporaryDir: `${STORE}/temporary`, segmentBytes, files };
    this.ring = allocateRing(ringBytes, ringSlots);
    this.writer = new RingWriter(this.ring);
    this.serviceRing = allocateRing(ringBytes, serviceSlots);
    this.#queueFileBytes = queueFileBytes;
  }

  get queueDir(): string {
    return `${STORE}/consumequeue`;
  }

  get checkpointPath(): string {
    return `${STORE}/checkpoint`;
  }

  mark(slot: Watermark): number {
    return this.watermarks.get(slot);
  }

  /** How often the service of this bell was rung while it said that it sleeps. */
  rings(of: keyof typeof BELLS): number {
    return this.#bells[BELLS[of] * Doorbell.wordsPerBell];
  }

  /** From now on until its next ring the owner says that it sleeps. */
  fallAsleep(of: keyof typeof BELLS): void {
    this.#bells[BELLS[of] * Doorbell.wordsPerBell + 1] = 1;
  }

  appender(): Appender {
    return this.keep(
      new Appender(
        {
          log: this.log,
          clearAheadBytes: this.#clearAheadBytes,
          rings: [
            { memory: this.ring, producer: this.#bell('network') },
            { memory: this.serviceRing, producer: this.#bell('service') },
          ],
          watermarks: this.watermarks.memory,
          queueTable: this.table.memory,
          followers: [this.#bell('flush'), this.#bell('reput')],
        },
        { clock: this.clock, logger: this.logger },
      ),
    );
  }

  flusher(changes: Partial<FlushBoot> = {}): Flusher {
    return this.keep(
      new Flusher(
        {
          log: this.log,
          abortPath: `${STORE}/abort`,
          watermarks: this.watermarks.memory,
          sync: false,
          intervalMs: 500,
          leastPages: 4,
          thoroughIntervalMs: 10_000,
          followers: [this.#bell('network'), this.#bell('reput')],
          ...changes,
        },
        { clock: this.clock, logger: this.logger },
      ),
    );
  }

  dispatcher(changes: Partial<ReputBoot> = {}, bitmaps?: FilterBitmaps): Dispatcher {
    return this.keep(
      new Dispatcher(
        {
          log: this.log,
          queueDir: this.queueDir,
          checkpointPath: this.checkpointPath,
          queueFileBytes: this.#queueFileBytes,
          queueFilesOpenMax: 16,
          ext: { dir: `${STORE}/consumequeue_ext`, fileBytes: 128, enabled: false },
          extBitmapBytes: 8,
          delayLevelsMs: [1000, 5000],
          watermarks: this.watermarks.memory,
          queueTable: this.table.memory,
          arrivals: this.arrivals,
          visibleWhenFlushed: false,
          syncIntervalMs: 1000,
          followers: [this.#bell('network')],
          topicFollowers: [],
          ...changes,
        },
        { clock: this.clock, logger: this.logger },
        bitmaps,
      ),
    );
  }

  /** The end of a service that stores messages through `serviceRing`. */
  serviceEnd(): StoreEndMemory {
    const mailbox = Mailbox.allocate(this.#bell('network'));
    return { ring: this.serviceRing, writer: this.#bell('network'), queueTable: this.table.memory, mailbox };
  }

  /** Puts the records into the ring as one unit, without publishing it; false when the ring is full. */
  put(...records: readonly Omit<TestRecord, 'physicalOffset'>[]): boolean {
    const unit = Buffer.concat(
      records.map((record) => testRecord({ ...record, physicalOffset: 0, storeTimestamp: 0 })),
    );
    const start = this.writer.reserve(unit.length);
    if (start < 0) return false;
    unit.copy(this.writer.bytes, start);
    const { topic = 'T', queueId = 0 } = records[0] ?? {};
    this.writer.commit(unit.length, this.table.register(topic, queueId), records.length);
    return true;
  }

  /** What the writer has completed, in order; frees the ring. */
  collect(): Settled[] {
    const settled: Settled[] = [];
    for (let left = this.writer.completed(); left > 0; left--) {
      const status = this.writer.statusOfOldest();
      const start = this.writer.startOfOldest();
      const { view } = this.writer;
      settled.push({ status, queueOffset: queueOffsetAt(view, start), physicalOffset: physicalOffsetAt(view, start) });
      this.writer.release();
    }
    return settled;
  }

  /** Publishes what was put, steps until the writer rests, collects. */
  append(appender: Appender): Settled[] {
    this.writer.publish();
    runToRest(appender);
    return this.collect();
  }

  /** Bytes of the log from `from` to `to`, straight from the files. */
  logBytes(from: number, to: number): Buffer {
    const { segmentBytes, files, dir } = this.log;
    const parts: Buffer[] = [];
    for (let at = from; at < to;) {
      const base = at - (at % segmentBytes);
      const end = Math.min(to, base + segmentBytes);
      const segment = files.readAll(`${dir}/${String(base).padStart(20, '0')}`);
      parts.push(segment.subarray(at - base, end - base));
      at = end;
    }
    return Buffer.concat(parts);
  }

  close(): void {
    for (const service of this.#open.splice(0)) service.close();
  }

  #bell(of: keyof typeof BELLS) {
    return { words: this.#bells, index: BELLS[of] };
  }

  /** Closed with the others. */
  keep<T extends Service>(service: T): T {
    this.#open.push(service);
    return service;
  }
}

/** Steps until the service wants to wait; fails when it never does. */
export function runToRest(service: Service, stepsMax = 10_000): void {
  for (let i = 0; i < stepsMax; i++) if (service.step() > 0) return;
  throw new Error(`the service still wants more after ${stepsMax} steps`);
}
