import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { viewOf } from '../../protocol/copy.js';
import { UNIT_BYTES } from '../../store/consumequeue/unit.js';
import { LogReader } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { ColdReads } from './cold-reads.js';
import type { RecordSlice } from './hot-blocks.js';
import { RecordSource, type Candidate } from './record-source.js';
import type { SelectRequest, Selection, SelectionStatus } from './selection.js';
import { UNITS_MAX, unitMayMatch, unitsMax, UnitWalk, type IsFull } from './unit-walk.js';

/** Too many pulls wait for a disk. */
export class ColdPullsBusy extends Error {
  constructor(max: number) {
    super(`${max} pulls wait for the disk already (coldPullsMax)`);
  }
}

/** Picks the messages of one pull: queue units first, then their records (4.9: DefaultMessageStore#getMessage). */
@injectable()
export class MessageSelector {
  /** Small and rare: they do not wait behind those of the log. */
  readonly #unitReads = new ColdReads(1);
  readonly #source: RecordSource;
  readonly #diskBehindBytes: number;
  #coldPulls = 0;

  constructor(
    @inject(Queues) private readonly queues: Queues,
    @inject(LogReader) private readonly log: LogReader,
    @inject(Options) private readonly options: Options,
  ) {
    this.#source = new RecordSource(log, new ColdReads(options.coldReadsMax));
    this.#diskBehindBytes = (options.totalMemoryBytes * options.accessMessageInMemoryMaxRatio) / 100;
  }

  /** At once while everything it needs lies near the tail; else a promise, which rejects with ColdPullsBusy. */
  select(request: SelectRequest): Selection | Promise<Selection> {
    const { topic, queueId, offset, maxMessages } = request;
    if (this.queues.areReady(topic, queueId, offset, unitsMax(maxMessages))) return this.#selectReady(request);
    return this.#cold(() => this.#unitReads.run(() => this.queues.bring(topic, queueId, offset))).then(() =>
      this.#selectReady(request),
    );
  }

  /** What may wait for a disk, while not too much does. */
  async #cold<T>(work: () => Promise<T>): Promise<T> {
    const { coldPullsMax } = this.options;
    if (this.#coldPulls >= coldPullsMax) throw new ColdPullsBusy(coldPullsMax);
    this.#coldPulls++;
    try {
      return await work();
    } finally {
      this.#coldPulls--;
    }
  }

  #selectReady(request: SelectRequest): Selection | Promise<Selection> {
    const { topic, queueId, offset, maxMessages, filter } = request;
    const minOffset = this.queues.minOffset(topic, queueId);
    const maxOffset = this.queues.maxOffset(topic, queueId);
    const none = (status: SelectionStatus, nextOffset: number): Selection => {
      return {
        status,
        nextOffset,
        minOffset,
        maxOffset,
        messages: 0,
        slices: [],
        bytes: 0,
        behindBytes: -1,
        slow: false,
      };
    };
    // 4.9 makes a queue by looking at it, and then finds it empty.
    if (maxOffset === 0) return none('NO_MESSAGE_IN_QUEUE', 0);
    if (offset < minOffset) return none('OFFSET_TOO_SMALL', minOffset);
    if (offset === maxOffset) return none('OFFSET_OVERFLOW_ONE', offset);
    if (offset > maxOffset) return none('OFFSET_OVERFLOW_BADLY', maxOffset);
    const walk = new UnitWalk(
      (from, count) => this.queues.entries(topic, queueId, offset + from, count),
      this.queues.extUnits(topic, queueId),
      filter,
      this.#limitOf(request),
      maxMessages,
    );
    if (walk.isEmpty) return none('OFFSET_FOUND_NULL', offset);
    return this.#fill(request, new Filling(walk, minOffset, maxOffset));
  }

  /** True when something in [from, to) may match, as far as the ConsumeQueue tells; for pulls that are held. */
  mayMatch({ topic, queueId, filter }: SelectRequest, from: number, to: number): boolean {
    if (filter.everything === true || filter.matchesTagsCode === undefined) return true;
    const units = this.queues.entries(topic, queueId, from, Math.min(to - from, UNITS_MAX));
    if (units.length < (to - from) * UNIT_BYTES) return true;
    const ext = this.queues.extUnits(topic, queueId);
    const view = viewOf(units);
    for (let at = 0; at < units.length; at += UNIT_BYTES)
      if (unitMayMatch(filter.matchesTagsCode, view, at, ext)) return true;
    return false;
  }

  /** Goes on until the answer is full or the units end; records that the filter turns away make room for later ones. */
  #fill(request: SelectRequest, filling: Filling): Selection | Promise<Selection> {
    const { matches } = request.filter;
    this.#source.begin();
    for (let found = filling.next(); found.length > 0; found = filling.next()) {
      if (!this.#source.areReady(found)) return this.#cold(() => this.#fillCold(request, filling, found));
      this.#passOver(filling, this.#source.readHot(found, matches, filling.take));
    }
    return this.#selection(request, filling);
  }

  async #fillCold(request: SelectRequest, filling: Filling, first: Candidate[]): Promise<Selection> {
    const { matches } = request.filter;
    for (let found = first; found.length > 0; found = filling.next()) {
      filling.keepOwn();
      if (await this.#source.bring(found)) {
        this.#source.begin();
        this.#passOver(filling, this.#source.readHot(found, matches, filling.take));
      } else this.#passOver(filling, await this.#source.readCold(found, matches, filling.take));
      filling.walk.refresh();
    }
    // The answer is put together some microtasks later.
    filling.keepOwn();
    return this.#selection(request, filling);
  }

  /** A record that is gone went with its segment; what lies behind that is looked at again. */
  #passOver(filling: Filling, gone: Candidate | undefined): void {
    if (gone === undefined) return;
    const size = this.options.mappedFileSizeCommitLog;
    filling.passOver(gone, gone.physicalOffset - (gone.physicalOffset % size) + size);
  }

  #selection({ offset }: SelectRequest, filling: Filling): Selection {
    const { walk, messages, slices, bytes, minOffset, maxOffset } = filling;
    const nothing = filling.lost ? 'MESSAGE_WAS_REMOVING' : 'NO_MATCHED_MESSAGE';
    const status = messages > 0 ? 'FOUND' : nothing;
    const nextOffset = offset + walk.taken;
    const behindBytes = this.log.maxOffset - walk.lastPhysical;
    const slow = behindBytes > this.#diskBehindBytes;
    return { status, nextOffset, minOffset, maxOffset, messages, slices, bytes, behindBytes, slow };
  }

  /** Whether one more message is too much for the answer (4.9: DefaultMessageStore#isTheBatchFull). */
  #limitOf({ maxMessages }: SelectRequest): IsFull {
    const { options } = this;
    const onDiskBelow = this.log.maxOffset - this.#diskBehindBytes;
    return (messages, bytes, physicalOffset, size) => {
      if (messages === 0) return false;
      if (messages >= maxMessages) return true;
      return physicalOffset < onDiskBelow
        ? bytes + size > options.maxTransferBytesOnMessageInDisk || messages >= options.maxTransferCountOnMessageInDisk
        : bytes + size > options.maxTransferBytesOnMessageInMemory ||
            messages >= options.maxTransferCountOnMessageInMemory;
    };
  }
}

/** One answer while it is put together. */
class Filling {
  readonly slices: RecordSlice[] = [];
  messages = 0;
  bytes = 0;
  /** A record that a unit points to is not there any more. */
  lost = false;
  /** Slices in memory of their own. */
  #own = 0;

  constructor(
    readonly walk: UnitWalk,
    readonly minOffset: number,
    readonly maxOffset: number,
  ) {}

  readonly take = (bytes: Buffer, at: number, size: number): void => {
    this.messages++;
    this.bytes += size;
    const last = this.slices[this.slices.length - 1];
    if (last !== undefined && last.bytes === bytes && last.at + last.size === at) last.size += size;
    else this.slices.push({ bytes, at, size });
  };

  next(): Candidate[] {
    return this.walk.candidates(this.messages, this.bytes);
  }

  passOver(gone: Candidate, resumeAt: number): void {
    this.lost = true;
    this.walk.resume(gone.unit, resumeAt);
  }

  /** Before anything is awaited: other pulls overwrite the blocks that slices lie in. */
  keepOwn(): void {
    for (; this.#own < this.slices.length; this.#own++) {
      const { bytes, at, size } = this.slices[this.#own];
      this.slices[this.#own] = { bytes: Buffer.from(bytes.subarray(at, at + size)), at: 0, size };
    }
  }
}
