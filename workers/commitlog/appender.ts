import { systemCodeOf, messageOf } from '../../kernel/base/errors.js';
import { RingReader } from '../../kernel/ring/reader.js';
import { QueueTable } from '../../kernel/ring/queue-table.js';
import { SlotStatus, SlotWord } from '../../kernel/ring/slots.js';
import { Doorbell } from '../../kernel/ring/wait.js';
import { Fault, Watermark, Watermarks } from '../../kernel/ring/watermarks.js';
import type { Service, ServiceContext } from '../../kernel/threads/service.js';
import { nodeFiles } from '../../store/files/node-files.js';
import type { CommitLogBoot } from './contract.js';
import { LogTail } from './log-tail.js';
import { NextOffsets } from './next-offsets.js';
import { stampUnit } from './stamp.js';

/** One batch ends here, so that its producer hears of it while the next one is written. */
const BATCH_BYTES_MAX = 1 << 20;
const IDLE_MS = 500;
const LOG_INTERVAL_MS = 1000;

interface Source {
  readonly ring: RingReader;
  readonly bell: Doorbell;
}

/** The one writer of the log: takes published units from the rings, stamps them, writes them, moves `appended`. */
export class Appender implements Service {
  readonly #sources: Source[];
  readonly #followers: Doorbell[];
  readonly #watermarks: Watermarks;
  readonly #offsets: NextOffsets;
  readonly #tail: LogTail;
  #loggedMonoMs = Number.NEGATIVE_INFINITY;

  constructor(
    boot: CommitLogBoot,
    private readonly context: ServiceContext,
  ) {
    this.#sources = boot.rings.map(({ memory, producer }) => ({
      ring: new RingReader(memory),
      bell: Doorbell.at(producer),
    }));
    this.#followers = boot.followers.map((bell) => Doorbell.at(bell));
    this.#watermarks = new Watermarks(boot.watermarks);
    this.#offsets = new NextOffsets(new QueueTable(boot.queueTable));
    this.#tail = new LogTail(
      boot.log.files ?? nodeFiles,
      boot.log,
      this.#watermarks.get(Watermark.appended),
      () => this.#watermarks.get(Watermark.ready),
      boot.clearAheadBytes,
    );
  }

  step(): number {
    this.#tail.forgetBelow(this.#watermarks.get(Watermark.logMin));
    let more = false;
    for (const source of this.#sources) more = this.#drain(source) || more;
    return more ? 0 : IDLE_MS;
  }

  close(): void {
    this.#tail.close();
  }

  /** One batch of one ring. */
  #drain({ ring, bell }: Source): boolean {
    const available = ring.available();
    if (available <= 0) return false;
    const storeTimeMs = this.context.clock.wallMs();
    let done = 0;
    for (let bytes = 0; done < available && bytes < BATCH_BYTES_MAX;) {
      const count = this.#appendRun(ring, done, available, storeTimeMs);
      for (let i = 0; i < count; i++) bytes += ring.word(done + i, SlotWord.bytes);
      done += count;
    }
    this.#watermarks.advance(Watermark.appended, this.#tail.position);
    this.#watermarks.advance(Watermark.appendedTimeMs, this.#laterTime(storeTimeMs));
    ring.complete(done);
    bell.ring();
    for (const follower of this.#followers) follower.ring();
    return true;
  }

  /** The wall clock may step back; the stored mark may not. */
  #laterTime(storeTimeMs: number): number {
    return Math.max(storeTimeMs, this.#watermarks.get(Watermark.appendedTimeMs));
  }

  /** Writes the longest run of units, from `first` on, that lies together in the ring and in one segment. Returns its units. */
  #appendRun(ring: RingReader, first: number, available: number, storeTimeMs: number): number {
    const refusal = this.#refusal(ring.word(first, SlotWord.bytes));
    if (refusal !== undefined) {
      ring.setStatus(first, refusal);
      return 1;
    }
    try {
      this.#tail.makeRoom(ring.word(first, SlotWord.bytes));
    } catch (error) {
      ring.setStatus(first, this.#statusOf(error));
      return 1;
    }
    const start = ring.word(first, SlotWord.start);
    let bytes = 0;
    let count = 0;
    while (first + count < available && bytes < BATCH_BYTES_MAX) {
      const size = ring.word(first + count, SlotWord.bytes);
      if (ring.word(first + count, SlotWord.start) !== start + bytes || !this.#tail.fits(bytes + size)) break;
      const row = ring.word(first + count, SlotWord.row);
      try {
        stampUnit(ring.view, start + bytes, size, this.#tail.position + bytes, storeTimeMs, row, this.#offsets);
      } catch (error) {
        return this.#withoutFaulty(ring, first, count, storeTimeMs, error);
      }
      bytes += size;
      count++;
    }
    const status = this.#write(ring, start, bytes);
    for (let i = 0; i < count; i++) ring.setStatus(first + i, status);
    return count;
  }

  /** The unit behind `count` good ones cannot be stamped: those before it are written, then it is refused alone. */
  #withoutFaulty(ring: RingReader, first: number, count: number, storeTimeMs: number, error: unknown): number {
    this.#offsets.takeBack();
    if (count > 0) return this.#appendRun(ring, first, first + count, storeTimeMs);
    ring.setStatus(first, SlotStatus.writeFailed);
    this.#logFailure(systemCodeOf(error), error);
    return 1;
  }

  #write(ring: RingReader, start: number, bytes: number): SlotStatus {
    try {
      this.#tail.write(ring.bytes, start, bytes);
    } catch (error) {
      this.#offsets.takeBack();
      return this.#statusOf(error);
    }
    this.#offsets.publish();
    return SlotStatus.stored;
  }

  #refusal(unitBytes: number): SlotStatus | undefined {
    if (this.#watermarks.raised(Fault.append) || this.#watermarks.raised(Fault.flush)) return SlotStatus.readOnly;
    return this.#tail.canEverFit(unitBytes) ? undefined : SlotStatus.tooLarge;
  }

  #statusOf(error: unknown): SlotStatus {
    const code = systemCodeOf(error);
    this.#logFailure(code, error);
    if (this.#tail.damaged) {
      this.#watermarks.raise(Fault.append);
      this.context.logger.error(
        { position: this.#tail.position },
        'what the failed write left behind could not be erased: the log is read-only until a restart',
      );
      return SlotStatus.readOnly;
    }
    return code === 'ENOSPC' || code === 'EDQUOT' ? SlotStatus.noSpace : SlotStatus.writeFailed;
  }

  /** Some lines tell as much as one for every batch; a full disk may be the one that takes them. */
  #logFailure(code: string | undefined, error: unknown): void {
    const now = this.context.clock.monoMs();
    if (now - this.#loggedMonoMs < LOG_INTERVAL_MS) return;
    this.#loggedMonoMs = now;
    this.context.logger.error(
      { position: this.#tail.position, code, error: messageOf(error) },
      'the commit log could not be written; the messages of this batch were refused',
    );
  }
}
