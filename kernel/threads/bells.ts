import { KernelError } from '../base/errors.js';
import { Doorbell } from '../ring/wait.js';
import type { BellAddress } from './contract.js';

/** One bell per thread, so this bounds the threads. */
const BELLS_MAX = 64;

/** The bells of a kernel's worker threads, in one shared array. A thread keeps its bell over restarts. */
export class BellHub {
  readonly #words = new Int32Array(
    new SharedArrayBuffer(BELLS_MAX * Doorbell.wordsPerBell * Int32Array.BYTES_PER_ELEMENT),
  );
  readonly #threads = new Map<string, number>();

  /** The bell of a thread, given out on first use. */
  of(thread: string): BellAddress {
    const index = this.#threads.get(thread) ?? this.#threads.size;
    if (index >= BELLS_MAX)
      throw new KernelError('TOPOLOGY_INVALID', `thread '${thread}' is one too many: ${BELLS_MAX} have bells already`, {
        remedy: 'let more services share a thread',
      });
    this.#threads.set(thread, index);
    return { words: this.#words, index };
  }
}
