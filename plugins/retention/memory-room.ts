import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { MemoryFiles } from '../../store/files/memory-files.js';
import { StoreState } from '../commitlog/contract.js';

/** So small a part of the bound is kept free at least, whatever the size of a file. */
const SHARE = 8;

/**
 * The bounded memory store forgets its oldest messages rather than refuse new ones: when less than a file's worth, or an eighth of
 * memoryStoreBytesMax when that is less, is free, the log's oldest files go, as many as bring it back.
 */
@injectable()
export class MemoryRoom {
  readonly #files: MemoryFiles | undefined;
  readonly #segmentBytes: number;
  readonly #keptFree: number;

  constructor(@inject(StoreState) state: StoreState, @inject(Options) options: Options) {
    this.#files = state.files instanceof MemoryFiles ? state.files : undefined;
    this.#segmentBytes = options.mappedFileSizeCommitLog;
    this.#keptFree = Math.floor(Math.min(this.#segmentBytes, options.memoryStoreBytesMax / SHARE));
  }

  /** `listener` hears when room gets short, after whoever takes it is done. */
  whenShort(listener: () => void): void {
    let told = false;
    this.#files?.whenShort(this.#keptFree, () => {
      if (told) return;
      told = true;
      queueMicrotask(() => {
        told = false;
        listener();
      });
    });
  }

  /** So many files of the log must go now. */
  forced(): number {
    const missing = this.#files === undefined ? 0 : this.#keptFree - this.#files.bytesFree;
    return missing <= 0 ? 0 : Math.ceil(missing / this.#segmentBytes);
  }
}
