import { inject, injectable } from '../../kernel/container.js';
import { KernelError } from '../../kernel/base/errors.js';
import { ArrivalRing } from '../../kernel/ring/arrivals.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { Pool, type Remote } from '../../kernel/threads/contract.js';
import { Options } from '../../kernel/tokens.js';
import { openFilesMax } from '../../store/files/descriptors.js';
import { unitExtOffset } from '../../store/consumequeue/ext-unit.js';
import { QueueFiles } from '../../store/consumequeue/queue-files.js';
import { offsetByTime } from '../../store/consumequeue/search.js';
import {
  queueFileBytes,
  UNIT_BYTES,
  unitPhysicalOffset,
  unitSize,
  unitTagsCode,
} from '../../store/consumequeue/unit.js';
import { searchOffsetOn } from '../../workers/pool/handle.js';
import type { ReputCalls } from '../../workers/reput/contract.js';
import { AppendGate, LogReader, StoreState } from '../commitlog/contract.js';
import type { ExtLook, QueueEntry, Queues } from './contract.js';
import { ExtAhead } from './ext-ahead.js';
import { ReadyUnits } from './ready-units.js';
import { UnitsAhead } from './units-ahead.js';

/** Of the files that the process may have open. */
const READ_SHARE = 1 / 4;

const ARRIVALS = 16_384;
/** Units that are brought at a time: more than one pull looks at. */
const BROUGHT_UNITS = 16_384;
const BROUGHT_EXT_BYTES = 1024 * 1024;
const noUnits = Buffer.alloc(0);

/** The network thread's view of the dispatched queues: offsets from shared memory, units from the files. */
@injectable()
export class QueueReader implements Queues {
  readonly arrivals = ArrivalRing.allocate(ARRIVALS);
  readonly #files: QueueFiles;
  readonly #listeners: ((topic: string, queueId: number, maxOffset: number) => void)[] = [];
  readonly #ring: ArrivalRing;
  readonly #units = new UnitsAhead();
  readonly #ext = new ExtAhead();
  readonly #ready: ReadyUnits;
  readonly #unit = Buffer.alloc(UNIT_BYTES);
  #calls: Remote<ReputCalls> | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(LogReader) private readonly log: LogReader,
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(Pool) private readonly pool: Pool,
    @inject(Options) options: Options,
  ) {
    this.#files = new QueueFiles({
      files: state.files,
      dir: state.paths.consumeQueue,
      temporaryDir: state.paths.temporary,
      fileBytes: queueFileBytes(options.mappedFileSizeConsumeQueue),
      openMax: openFilesMax(options.queueFilesOpenMax, READ_SHARE),
      mode: 'read',
      ext: state.queueExt,
    });
    this.#ready = new ReadyUnits(log);
    const ring = (this.#ring = new ArrivalRing(this.arrivals));
    state.wake.add(
      () =>
        ring.drain(
          (row) => this.#arrived(row),
          () => this.#allArrived(),
        ),
      () => !ring.isEmpty(),
    );
  }

  attach(calls: Remote<ReputCalls>): void {
    this.#calls = calls;
  }

  has(topic: string, queueId: number): boolean {
    return this.state.queueTable.find(topic, queueId) >= 0;
  }

  idsOf(topic: string): number[] {
    return this.state.queueTable.idsOf(topic);
  }

  topics(): string[] {
    return this.state.queueTable.topics();
  }

  minOffset(topic: string, queueId: number): number {
    const row = this.state.queueTable.find(topic, queueId);
    return row < 0 ? 0 : this.state.queueTable.get(row, QueueWord.minimum);
  }

  maxOffset(topic: string, queueId: number): number {
    const row = this.state.queueTable.find(topic, queueId);
    return row < 0 ? 0 : this.state.queueTable.get(row, QueueWord.dispatched);
  }

  entries(topic: string, queueId: number, offset: number, count: number): Buffer {
    const row = this.state.queueTable.find(topic, queueId);
    if (row < 0) return noUnits;
    const { queueTable } = this.state;
    const available = queueTable.get(row, QueueWord.dispatched) - offset;
    if (available <= 0 || count <= 0 || offset < queueTable.get(row, QueueWord.minimum)) return noUnits;
    return this.#units.read(row, offset, Math.min(count, available), available, (target, ahead) => {
      const bytes = this.#files.readInto(target, topic, queueId, offset, ahead);
      this.#ready.learn(row, offset, target, bytes);
      return bytes;
    });
  }

  areReady(topic: string, queueId: number, offset: number, count: number): boolean {
    if (!this.#mayBeCold()) return true;
    const { queueTable } = this.state;
    const row = queueTable.find(topic, queueId);
    if (row < 0) return true;
    return this.#ready.has(row, offset, Math.min(count, queueTable.get(row, QueueWord.dispatched) - offset));
  }

  async bring(topic: string, queueId: number, offset: number): Promise<void> {
    const row = this.state.queueTable.find(topic, queueId);
    const available = this.maxOffset(topic, queueId) - offset;
    if (row < 0 || available <= 0) return;
    const units = await this.#files.readAsync(topic, queueId, offset, Math.min(available, BROUGHT_UNITS));
    const first = units.length === 0 ? -1 : unitExtOffset(units, 0);
    const last = units.length === 0 ? -1 : unitExtOffset(units, units.length - UNIT_BYTES);
    if (first >= 0 && last > first)
      await this.#files.ext?.readAsync(topic, queueId, first, Math.min(last - first, BROUGHT_EXT_BYTES));
    this.#ready.brought(row, offset, units);
  }

  entry(topic: string, queueId: number, offset: number): QueueEntry | undefined {
    const unit = this.entries(topic, queueId, offset, 1);
    if (unit.length < UNIT_BYTES) return undefined;
    const extOffset = unitExtOffset(unit, 0);
    return {
      physicalOffset: unitPhysicalOffset(unit, 0),
      size: unitSize(unit, 0),
      tagsCode: extOffset < 0 ? unitTagsCode(unit, 0) : this.extUnits(topic, queueId)(extOffset)?.unit.tagsCode,
    };
  }

  extUnits(topic: string, queueId: number): ExtLook {
    const row = this.state.queueTable.find(topic, queueId);
    if (row < 0) return () => undefined;
    const lastOffset = (): number => {
      const last = this.#files.readInto(this.#unit, topic, queueId, this.maxOffset(topic, queueId) - 1, 1);
      return last < UNIT_BYTES ? -1 : unitExtOffset(this.#unit, 0);
    };
    const fetch = (target: Buffer, extOffset: number): number =>
      this.#files.ext === undefined ? 0 : this.#files.ext.read(topic, queueId, extOffset, target, target.length);
    return (extOffset) => this.#ext.read(row, extOffset, lastOffset, fetch);
  }

  offsetByTime(topic: string, queueId: number, timestampMs: number): Promise<number> {
    if (this.#mayBeCold()) return this.#onPool(topic, queueId, timestampMs);
    const storeTimestamp = (offset: number): Promise<number> => {
      const entry = this.entry(topic, queueId, offset);
      return entry === undefined ? Promise.resolve(-1) : this.log.storeTimestamp(entry.physicalOffset);
    };
    const minOffset = this.minOffset(topic, queueId);
    const maxOffset = this.maxOffset(topic, queueId);
    return offsetByTime({ minOffset, maxOffset, fileBytes: this.#files.fileBytes, storeTimestamp }, timestampMs);
  }

  earliestMs(topic: string, queueId: number): Promise<number> {
    if (this.#mayBeCold()) return this.#onPool(topic, queueId, undefined);
    const entry = this.entry(topic, queueId, this.minOffset(topic, queueId));
    return entry === undefined ? Promise.resolve(-1) : this.log.storeTimestamp(entry.physicalOffset);
  }

  /** While all of the log lies near its tail no search can touch a disk. */
  #mayBeCold(): boolean {
    return !this.log.isHot(this.log.minOffset);
  }

  #onPool(topic: string, queueId: number, timestampMs: number | undefined): Promise<number> {
    const { log, paths } = this.state;
    return searchOffsetOn(this.pool, {
      topic,
      queueId,
      timestampMs,
      minOffset: this.minOffset(topic, queueId),
      maxOffset: this.maxOffset(topic, queueId),
      queueDir: paths.consumeQueue,
      queueFileBytes: this.#files.fileBytes,
      temporaryDir: paths.temporary,
      logDir: log.dir,
      segmentBytes: log.segmentBytes,
    });
  }

  async deleteTopic(topic: string): Promise<void> {
    await this.gate.drained();
    const until = this.state.watermarks.get(Watermark.appended);
    try {
      await this.#calls?.deleteTopic(topic, until);
    } finally {
      // Also when files could not be removed: some of them may be gone, and nobody may look for their units.
      for (const queueId of this.idsOf(topic)) {
        this.#files.forget(topic, queueId);
        this.state.queueTable.renew(topic, queueId);
      }
    }
  }

  async synced(): Promise<number> {
    const end = this.state.watermarks.get(Watermark.dispatched);
    await this.#worker().syncQueues();
    return end;
  }

  async dropOldFiles(topic: string, queueId: number): Promise<number> {
    const count = await this.#worker().dropOldFiles(topic, queueId);
    if (count > 0) this.#files.forget(topic, queueId);
    return count;
  }

  /** A file that is made later has the name of one that goes: nothing reads below the first offset, so none is opened meanwhile. */
  dropExpired(topic: string, queueId: number): Promise<boolean> {
    this.#files.forget(topic, queueId);
    return this.#worker().dropExpired(topic, queueId);
  }

  onArrival(listener: (topic: string, queueId: number, maxOffset: number) => void): void {
    this.#listeners.push(listener);
  }

  wantArrivals(wanted: boolean): void {
    this.#ring.setWanted(wanted);
  }

  close(): void {
    this.#files.close();
  }

  #worker(): Remote<ReputCalls> {
    if (this.#calls === undefined) throw new KernelError('REPUT_NOT_RUNNING', 'the dispatch service does not run yet');
    return this.#calls;
  }

  #arrived(row: number): void {
    const { queueTable } = this.state;
    const end = queueTable.get(row, QueueWord.dispatched);
    for (const listener of this.#listeners) listener(queueTable.topicOf(row), queueTable.queueIdOf(row), end);
  }

  #allArrived(): void {
    this.state.queueTable.sync();
    for (let row = 0; row < this.state.queueTable.count; row++) this.#arrived(row);
  }
}
