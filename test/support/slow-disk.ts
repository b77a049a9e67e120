import { nodeFiles } from '../../store/files/node-files.js';
import type { StoreFile, StoreFiles } from '../../store/files/contract.js';

const PAGE = 4096;

/**
 * The machine's files behind a page cache of which a test says what it holds. A synchronous read of what is not in it is a stall: there
 * the thread would wait for the disk. An asynchronous one can be held.
 */
export class SlowDisk {
  readonly files: StoreFiles;
  /** Where threads would have waited: path and position. */
  readonly stalls: string[] = [];
  /** Asynchronous reads that wait for `release`. */
  held = 0;
  heldMax = 0;
  readonly #absent = new Map<string, Set<number>>();
  #gate: { readonly opened: Promise<void>; open: () => void } | undefined;

  constructor() {
    this.files = new Proxy(nodeFiles, {
      get: (files, name: keyof StoreFiles) => {
        if (name === 'open') return (path: string, mode: 'read' | 'readWrite') => this.#watched(files.open(path, mode));
        return files[name].bind(files) as unknown;
      },
    });
  }

  /** The first `bytes` bytes of a file are on the disk only. */
  evict(path: string, bytes: number): void {
    const pages = Array.from({ length: Math.floor(bytes / PAGE) }, (_, i) => i);
    this.#absent.set(path, new Set(pages));
  }

  /** Reads that have to wait for the disk get no answer from now on. */
  hold(): void {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gate = { opened, open };
  }

  release(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  #watched(file: StoreFile): StoreFile {
    return new Proxy(file, {
      get: (inner, name: keyof StoreFile) => {
        if (name === 'path') return inner.path;
        if (name === 'read') return this.#read(inner);
        if (name === 'readAsync') return this.#readAsync(inner);
        return inner[name].bind(inner) as unknown;
      },
    });
  }

  #read(file: StoreFile): StoreFile['read'] {
    return (target, at, length, position) => {
      if (this.#absentPages(file.path, position, length).length > 0) this.stalls.push(`${file.path} at ${position}`);
      return file.read(target, at, length, position);
    };
  }

  #readAsync(file: StoreFile): StoreFile['readAsync'] {
    return async (target, at, length, position) => {
      const absent = this.#absentPages(file.path, position, length);
      if (absent.length > 0 && this.#gate !== undefined) {
        this.held++;
        this.heldMax = Math.max(this.heldMax, this.held);
        await this.#gate.opened;
        this.held--;
      }
      const count = await file.readAsync(target, at, length, position);
      for (const page of absent) this.#absent.get(file.path)?.delete(page);
      return count;
    };
  }

  #absentPages(path: string, position: number, length: number): number[] {
    const absent = this.#absent.get(path);
    if (absent === undefined) return [];
    const first = Math.floor(position / PAGE);
    const count = Math.ceil((position + length) / PAGE) - first;
    return Array.from({ length: count }, (_, i) => first + i).filter((page) => absent.has(page));
  }
}
