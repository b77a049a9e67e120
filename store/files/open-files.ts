import { systemCodeOf } from '../../kernel/base/errors.js';
import type { StoreFile, StoreFiles } from './contract.js';

/** Open descriptors of many small files, at most `openMax` at a time; the one unused for longest is closed first. */
export class OpenFiles {
  readonly #files: StoreFiles;
  readonly #mode: 'read' | 'readWrite';
  readonly #openMax: number;
  /** Insertion order is order of use. */
  readonly #open = new Map<string, StoreFile>();

  constructor(files: StoreFiles, mode: 'read' | 'readWrite', openMax: number) {
    this.#files = files;
    this.#mode = mode;
    this.#openMax = Math.max(1, openMax);
  }

  get count(): number {
    return this.#open.size;
  }

  /** The open file; throws ENOENT when there is none. Hold it no longer than the call at hand: another `get` may close it. */
  get(path: string): StoreFile {
    const held = this.#open.get(path);
    if (held === undefined) return this.put(this.#files.open(path, this.#mode));
    this.#open.delete(path);
    this.#open.set(path, held);
    return held;
  }

  /** The same, or undefined when there is none. */
  tryGet(path: string): StoreFile | undefined {
    try {
      return this.get(path);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Takes over a file that was opened elsewhere, such as a new one. */
  put(file: StoreFile): StoreFile {
    this.close(file.path);
    this.#open.set(file.path, file);
    if (this.#open.size > this.#openMax) {
      const oldest = this.#open.keys().next();
      if (oldest.done !== true) this.close(oldest.value);
    }
    return file;
  }

  close(path: string): void {
    const file = this.#open.get(path);
    if (file === undefined) return;
    this.#open.delete(path);
    file.close();
  }

  /** Closes all files whose path begins so; a folder's prefix ends with a slash. */
  closeUnder(prefix: string): void {
    for (const path of [...this.#open.keys()]) if (path.startsWith(prefix)) this.close(path);
  }

  closeAll(): void {
    for (const file of this.#open.values()) file.close();
    this.#open.clear();
  }
}
