import { KernelError, messageOf } from '../../kernel/base/errors.js';
import { Doorbell } from '../../kernel/ring/wait.js';
import { Fault, Watermark, Watermarks } from '../../kernel/ring/watermarks.js';
import type { Service, ServiceContext } from '../../kernel/threads/service.js';
import { markSyncFailed } from '../../store/checkpoint/checkpoint.js';
import { Segments } from '../../store/commitlog/segments.js';
import { nodeFiles } from '../../store/files/node-files.js';
import type { FlushBoot, FlushCalls } from './contract.js';

const PAGE_BYTES = 4096;
const IDLE_MS = 500;

/**
 * Moves `flushed` after a successful sync, never before (B01: 4.9 moves it after a failed one too). After a failure the dirty
 * pages count as lost: no second sync can be believed, so the fault stays raised and the log takes no more writes.
 */
export class Flusher implements Service {
  readonly calls: FlushCalls = { flushNow: () => Promise.resolve(this.#flushNow()) };
  readonly #watermarks: Watermarks;
  readonly #segments: Segments;
  readonly #followers: Doorbell[];
  #lastSyncMonoMs: number;

  constructor(
    private readonly boot: FlushBoot,
    private readonly context: ServiceContext,
  ) {
    this.#watermarks = new Watermarks(boot.watermarks);
    const { files, dir, temporaryDir, segmentBytes } = boot.log;
    this.#segments = new Segments(files ?? nodeFiles, dir, temporaryDir, segmentBytes);
    this.#segments.open('read');
    this.#followers = boot.followers.map((bell) => Doorbell.at(bell));
    this.#lastSyncMonoMs = context.clock.monoMs();
  }

  step(): number {
    this.#segments.forgetBelow(this.#watermarks.get(Watermark.logMin));
    const dirty = this.#watermarks.get(Watermark.appended) - this.#watermarks.get(Watermark.flushed);
    if (this.#watermarks.raised(Fault.flush)) return IDLE_MS;
    if (this.boot.sync) {
      if (dirty === 0) return IDLE_MS;
      this.#sync();
      return 0;
    }
    const sinceMs = this.context.clock.monoMs() - this.#lastSyncMonoMs;
    if (sinceMs < this.boot.intervalMs) return this.boot.intervalMs - sinceMs;
    const thorough = sinceMs >= this.boot.thoroughIntervalMs;
    if (dirty > 0 && (thorough || dirty >= this.boot.leastPages * PAGE_BYTES)) this.#sync();
    // Not a whole interval beyond the time within which everything is to be synced.
    const leftMs = this.boot.thoroughIntervalMs - sinceMs;
    return leftMs > 0 ? Math.min(this.boot.intervalMs, leftMs) : this.boot.intervalMs;
  }

  close(): void {
    this.#segments.close();
  }

  #flushNow(): number {
    if (!this.#watermarks.raised(Fault.flush)) this.#sync();
    if (this.#watermarks.raised(Fault.flush))
      throw new KernelError(
        'FLUSH_FAILED',
        'a sync of the commit log failed; what followed it is not known to be on disk',
      );
    return this.#watermarks.get(Watermark.flushed);
  }

  /** Every segment from `flushed` to `appended` in order, then one step of the watermark across all of them. */
  #sync(): void {
    const timeMs = this.#watermarks.get(Watermark.appendedTimeMs);
    const target = this.#watermarks.get(Watermark.appended);
    const from = this.#watermarks.get(Watermark.flushed);
    this.#lastSyncMonoMs = this.context.clock.monoMs();
    if (target === from) return;
    const size = this.boot.log.segmentBytes;
    try {
      for (let base = from - (from % size); base < target; base += size) this.#syncSegment(base);
    } catch (error) {
      this.#watermarks.raise(Fault.flush);
      this.context.logger.error(
        { from, target, dir: this.boot.log.dir, error: messageOf(error) },
        'a sync of the commit log failed: nothing after the last good sync is acknowledged and the log is read-only until a restart',
      );
      this.#mark();
      this.#wake();
      return;
    }
    this.#watermarks.advance(Watermark.flushed, target);
    this.#watermarks.advance(Watermark.flushedTimeMs, timeMs);
    this.#wake();
  }

  /** For the next start; one that misses it believes what it reads until the machine goes off. */
  #mark(): void {
    const { log, abortPath } = this.boot;
    try {
      markSyncFailed(log.files ?? nodeFiles, abortPath);
    } catch (error) {
      this.context.logger.error(
        { path: abortPath, error: messageOf(error) },
        'the failed sync could not be noted for the next start: restart the machine before the broker',
      );
    }
  }

  #syncSegment(base: number): void {
    const segment = this.#segments.fileAt(base, 'readWrite');
    if (segment === undefined)
      throw new KernelError('SEGMENT_MISSING', `the segment at ${base} is gone before it was synced`);
    segment.file.sync();
  }

  #wake(): void {
    for (const follower of this.#followers) follower.ring();
  }
}
