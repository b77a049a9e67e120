import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { UNIT_BYTES, isRecordUnit, unitPhysicalOffset, unitSize, unitTagsCode } from '../../store/consumequeue/unit.js';
import { LogReader } from '../commitlog/contract.js';
import { Queues } from '../reput/contract.js';
import { RecordSpans, type Candidate } from './record-spans.js';
import type { SelectRequest, Selection, SelectionStatus } from './selection.js';

/** Units looked at for one pull at most (4.9: 16,000 bytes of the ConsumeQueue). */
const UNITS_MAX = 800;

/** Picks the messages of one pull: queue units first, then their records (4.9: DefaultMessageStore#getMessage). */
@injectable()
export class MessageSelector {
  readonly #spans: RecordSpans;
  readonly #diskBehindBytes: number;

  constructor(
    @inject(Queues) private readonly queues: Queues,
    @inject(LogReader) private readonly log: LogReader,
    @inject(Options) private readonly options: Options,
  ) {
    this.#spans = new RecordSpans(log);
    this.#diskBehindBytes = (options.totalMemoryBytes * options.accessMessageInMemoryMaxRatio) / 100;
  }

  async select(request: SelectRequest): Promise<Selection> {
    const { topic, queueId, offset, filter } = request;
    const minOffset = this.queues.minOffset(topic, queueId);
    const maxOffset = this.queues.maxOffset(topic, queueId);
    const none = (status: SelectionStatus, nextOffset: number): Selection => {
      return { status, nextOffset, minOffset, maxOffset, body: [], messages: 0, bytes: 0, slow: false };
    };
    if (!this.queues.has(topic, queueId)) return none('NO_MATCHED_LOGIC_QUEUE', 0);
    if (maxOffset === 0) return none('NO_MESSAGE_IN_QUEUE', 0);
    if (offset < minOffset) return none('OFFSET_TOO_SMALL', minOffset);
    if (offset === maxOffset) return none('OFFSET_OVERFLOW_ONE', offset);
    if (offset > maxOffset) return none('OFFSET_OVERFLOW_BADLY', maxOffset);
    const filtered = filter.matches !== undefined || filter.matchesTagsCode !== undefined;
    const units = this.queues.entries(topic, queueId, offset, filtered ? UNITS_MAX : this.#messagesMax(request));
    if (units.length === 0) return none('OFFSET_FOUND_NULL', offset);
    return { ...(await this.#fill(request, units)), minOffset, maxOffset };
  }

  /** True when something in [from, to) may match, as far as the ConsumeQueue tells; for pulls that are held. */
  mayMatch({ topic, queueId, filter }: SelectRequest, from: number, to: number): boolean {
    if (filter.matchesTagsCode === undefined) return true;
    const units = this.queues.entries(topic, queueId, from, Math.min(to - from, UNITS_MAX));
    if (units.length < (to - from) * UNIT_BYTES) return true;
    for (let at = 0; at < units.length; at += UNIT_BYTES)
      if (filter.matchesTagsCode(unitTagsCode(units, at))) return true;
    return false;
  }

  /** Goes on until the answer is full or the units end; records that the filter turns away make room for later ones. */
  async #fill(request: SelectRequest, units: Buffer): Promise<Omit<Selection, 'minOffset' | 'maxOffset'>> {
    const body: Buffer[] = [];
    let messages = 0;
    let bytes = 0;
    let status: SelectionStatus = 'NO_MATCHED_MESSAGE';
    const walk = new UnitWalk(units, request, (count, size, candidate) =>
      this.#isFull(request, count, size, candidate),
    );
    for (let found = walk.candidates(0, 0); found.length > 0; found = walk.candidates(messages, bytes)) {
      const read = await this.#spans.read(found, request.filter.matches);
      if (read.messages > 0) body.push(read.body);
      messages += read.messages;
      bytes += read.body.length;
      if (read.goneAt >= 0) {
        if (messages === 0) status = 'MESSAGE_WAS_REMOVING';
        walk.skipTo(this.#nextSegment(read.goneAt));
        if (messages > 0) break;
      }
    }
    if (messages > 0) status = 'FOUND';
    const slow = this.#behind(walk.lastPhysical) > this.#diskBehindBytes;
    return { status, nextOffset: request.offset + walk.taken, body, messages, bytes, slow };
  }

  /** 4.9: DefaultMessageStore#isTheBatchFull. */
  #isFull(request: SelectRequest, messages: number, bytes: number, { physicalOffset, size }: Candidate): boolean {
    if (messages === 0) return false;
    if (messages >= request.maxMessages) return true;
    const { options } = this;
    return this.#behind(physicalOffset) > this.#diskBehindBytes
      ? bytes + size > options.maxTransferBytesOnMessageInDisk || messages >= options.maxTransferCountOnMessageInDisk
      : bytes + size > options.maxTransferBytesOnMessageInMemory ||
          messages >= options.maxTransferCountOnMessageInMemory;
  }

  #behind(physicalOffset: number): number {
    return this.log.maxOffset - physicalOffset;
  }

  #nextSegment(physicalOffset: number): number {
    const size = this.options.mappedFileSizeCommitLog;
    return physicalOffset - (physicalOffset % size) + size;
  }

  #messagesMax({ maxMessages }: SelectRequest): number {
    return Math.min(Math.max(maxMessages, 1), this.options.maxTransferCountOnMessageInMemory);
  }
}

/** Goes through one pull's units once. */
class UnitWalk {
  /** Units that are done with. */
  taken = 0;
  /** Physical offset of the last unit looked at. */
  lastPhysical = 0;
  #resumeAt = -1;

  constructor(
    private readonly units: Buffer,
    private readonly request: SelectRequest,
    private readonly isFull: (messages: number, bytes: number, candidate: Candidate) => boolean,
  ) {}

  /** Records of a lost segment are passed over. */
  skipTo(physicalOffset: number): void {
    this.#resumeAt = physicalOffset;
  }

  /** The next units that pass by the tags code, as many as the answer has room for beside what it holds. */
  candidates(messages: number, bytes: number): Candidate[] {
    const { units } = this;
    const found: Candidate[] = [];
    let size = bytes;
    for (; this.taken * UNIT_BYTES < units.length; this.taken++) {
      const at = this.taken * UNIT_BYTES;
      const candidate = { physicalOffset: unitPhysicalOffset(units, at), size: unitSize(units, at) };
      this.lastPhysical = candidate.physicalOffset;
      if (candidate.physicalOffset < this.#resumeAt || !isRecordUnit(units, at)) continue;
      if (this.isFull(messages + found.length, size, candidate)) break;
      if (this.request.filter.matchesTagsCode?.(unitTagsCode(units, at)) === false) continue;
      found.push(candidate);
      size += candidate.size;
    }
    return found;
  }
}
