import { statSync } from 'node:fs';
import { messageOf } from '../../kernel/base/errors.js';
import { inject, injectable } from '../../kernel/container.js';
import { Watermark } from '../../kernel/ring/watermarks.js';
import { Pool } from '../../kernel/threads/contract.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { readySegmentPath } from '../../store/files/paths.js';
import { makeSegmentOn } from '../../workers/pool/handle.js';
import { StoreState } from './contract.js';

const LOOK_MS = 250;
const PAGE_BYTES = 4096;

/**
 * Has the next segment made on the pool once the present one is half full, so that the writer only moves it in (4.9:
 * AllocateMappedFileService). Without it the writer makes the file itself: nothing depends on this.
 */
@injectable()
export class NextSegment {
  #timer: NodeJS.Timeout | undefined;
  #making: Promise<void> | undefined;
  /** First byte of the segment that was made last, or tried. */
  #base = 0;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(Pool) private readonly pool: Pool,
    @inject(Options) private readonly options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  start(): void {
    const { dir, temporaryDir } = this.state.log;
    // A file cannot be moved from one file system to another.
    if (this.state.inMemory || statSync(dir).dev !== statSync(temporaryDir).dev) return;
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Begins the next segment when it is time; the promise is that of the one being made. */
  look(): Promise<void> | undefined {
    const { segmentBytes } = this.state.log;
    const appended = this.state.watermarks.get(Watermark.appended);
    const within = appended % segmentBytes;
    const base = appended - within + segmentBytes;
    if (this.#making !== undefined || base <= this.#base || within < segmentBytes / 2) return this.#making;
    this.#making = this.#make(base).finally(() => (this.#making = undefined));
    return this.#making;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#making;
    this.#removeUnused();
  }

  /** The writer was there first and made the file itself, or never came so far. */
  #removeUnused(): void {
    const path = readySegmentPath(this.state.log.temporaryDir, this.#base);
    if (this.#base > 0 && this.state.files.exists(path)) this.state.files.remove(path);
  }

  async #make(base: number): Promise<void> {
    const { temporaryDir, segmentBytes } = this.state.log;
    const { warmMapedFileEnable, flushLeastPagesWhenWarmMapedFile } = this.options;
    this.#removeUnused();
    this.#base = base;
    const path = readySegmentPath(temporaryDir, base);
    const touchBytes = warmMapedFileEnable ? Math.max(1, flushLeastPagesWhenWarmMapedFile) * PAGE_BYTES : 0;
    try {
      await makeSegmentOn(this.pool, { path, bytes: segmentBytes, touchBytes });
      this.state.watermarks.advance(Watermark.ready, base);
    } catch (error) {
      this.logger.warn(
        { path, bytes: segmentBytes, error: messageOf(error) },
        'the next segment could not be made ahead; the writer will make it itself',
      );
    }
  }
}
