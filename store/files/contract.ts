/**
 * The store's only door to a disk. Implementations: the machine's files (node-files), memory (memory-files), and a lossy twin
 * for tests. All calls are synchronous but `readAsync`; errors are thrown as they come (ErrnoException with code, path in message).
 */
export interface StoreFile {
  readonly path: string;
  /** Reads up to `length` bytes at `position` into `target`; returns what was read, less only at the end of the file. */
  read(target: Uint8Array, targetOffset: number, length: number, position: number): number;
  readAsync(target: Uint8Array, targetOffset: number, length: number, position: number): Promise<number>;
  /** Writes all of it; short writes are looped. Throws when not all could be written. */
  write(source: Uint8Array, sourceOffset: number, length: number, position: number): void;
  /** fdatasync. A failure is final for what was written before it: never retried as if it could still succeed. */
  sync(): void;
  size(): number;
  truncate(size: number): void;
  close(): void;
}

export interface StoreFiles {
  /** Opens an existing file; throws ENOENT when it is missing. */
  open(path: string, mode: 'read' | 'readWrite'): StoreFile;
  /**
   * Makes a file that appears complete: `size` zero bytes (sparse) under `temporaryDir`, synced, renamed to `path`, the folder
   * synced. Missing parent folders are made (and synced) first.
   */
  createComplete(path: string, size: number, temporaryDir: string): StoreFile;
  /**
   * As `createComplete`, but nothing is synced, which costs a thousandth. The file is complete before it has its name, and a file system
   * with a journal keeps that order. Folders in which names changed are added to `unsynced`: `syncNames` makes them safe.
   */
  createUnsynced(path: string, size: number, temporaryDir: string, unsynced: Set<string>): StoreFile;
  /** Syncs these folders, the outer ones first; passes over those that are gone. */
  syncNames(dirs: Iterable<string>): void;
  /**
   * Makes a file of `size` zero bytes, synced, where nobody looks for it yet; see `moveIn`. With `touchBytes` above 0 the zeros are
   * written, so that their room on the disk is taken, and synced each time so many are.
   */
  makeAhead(path: string, size: number, touchBytes: number): void;
  /** Gives a file that was made ahead its place: rename, the folder synced. Both must be on one file system. */
  moveIn(from: string, to: string): StoreFile;
  /** Names in a folder, sorted; empty when the folder is missing. */
  list(dir: string): string[];
  exists(path: string): boolean;
  sizeOf(path: string): number;
  /** When the file was last written to, wall clock, ms. */
  modifiedMs(path: string): number;
  readAll(path: string): Buffer;
  /** Temporary file, sync, rename, folder sync; the old content is kept as `<path>.bak` the same way when `keepBackup`. */
  replace(path: string, content: Uint8Array | string, keepBackup: boolean): void;
  makeDir(path: string): void;
  remove(path: string): void;
  removeTree(path: string): void;
}
