import { basename, dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { KernelError, systemCodeOf } from '../../kernel/base/errors.js';
import type { StoreFile, StoreFiles } from './contract.js';

/** A file that may be renamed while it is open, so that its errors name where it is now. */
export interface RenamableFile extends StoreFile {
  renamed(path: string): void;
}

let temporaryCount = 0;

/** Two threads make files of the same name at the same time; what a crash left behind must not be in the way either. */
function temporaryName(path: string): string {
  temporaryCount += 1;
  return `${basename(path)}.${process.pid}-${threadId}-${temporaryCount}`;
}

/**
 * The order of steps that makes files and folders safe against a power cut, over the single steps of a disk. The machine's files,
 * memory and the lossy twin of the tests share it, so that the twin can cut between any two steps of what really runs.
 */
export abstract class OrderedFiles implements StoreFiles {
  abstract open(path: string, mode: 'read' | 'readWrite'): StoreFile;
  abstract list(dir: string): string[];
  abstract exists(path: string): boolean;
  abstract sizeOf(path: string): number;
  abstract modifiedMs(path: string): number;
  abstract readAll(path: string): Buffer;

  /** Makes an empty file for reading and writing; one that is there is emptied. The folder is not synced. */
  protected abstract create(path: string): RenamableFile;
  protected abstract rename(from: string, to: string): void;
  /** Makes one folder whose parent exists; no error when it is there. The parent is not synced. */
  protected abstract makeOneDir(path: string): void;
  protected abstract syncDir(path: string): void;
  protected abstract unlink(path: string): void;
  /** Removes a folder with all in it; no error when it is missing. */
  protected abstract unlinkTree(path: string): void;

  createComplete(path: string, size: number, temporaryDir: string): StoreFile {
    this.makeDir(dirname(path));
    this.makeDir(temporaryDir);
    const file = this.createInPlace(path, temporaryDir, (made) => {
      made.truncate(size);
      made.sync();
    });
    try {
      this.syncDir(dirname(path));
    } catch (error) {
      file.close();
      throw error;
    }
    return file;
  }

  createUnsynced(path: string, size: number, temporaryDir: string, unsynced: Set<string>): StoreFile {
    this.makeDirUnsynced(dirname(path), unsynced);
    this.makeDir(temporaryDir);
    const file = this.createInPlace(path, temporaryDir, (made) => made.truncate(size));
    unsynced.add(dirname(path));
    return file;
  }

  syncNames(dirs: Iterable<string>): void {
    for (const dir of [...dirs].sort()) if (this.exists(dir)) this.syncDir(dir);
  }

  /** `complete` makes the file what it must be before it gets its name. */
  private createInPlace(path: string, temporaryDir: string, complete: (file: StoreFile) => void): StoreFile {
    if (this.exists(path)) {
      throw new KernelError('EEXIST', `${path} exists already; a new store file may not replace it`);
    }
    try {
      return this.createVia(join(temporaryDir, temporaryName(path)), path, complete);
    } catch (error) {
      // The temporary folder lies on another file system than this folder (storePathCommitLog on its own mount).
      if (systemCodeOf(error) !== 'EXDEV') throw error;
      return this.createVia(`${path}.tmp`, path, complete);
    }
  }

  private createVia(temporary: string, path: string, complete: (file: StoreFile) => void): StoreFile {
    const file = this.create(temporary);
    try {
      complete(file);
      this.rename(temporary, path);
    } catch (error) {
      file.close();
      this.unlinkQuietly(temporary);
      throw error;
    }
    file.renamed(path);
    return file;
  }

  makeAhead(path: string, size: number, touchBytes: number): void {
    this.makeDir(dirname(path));
    const file = this.create(path);
    try {
      file.truncate(size);
      if (touchBytes > 0) touch(file, size, touchBytes);
      file.sync();
    } catch (error) {
      this.unlinkQuietly(path);
      throw error;
    } finally {
      file.close();
    }
  }

  moveIn(from: string, to: string): StoreFile {
    if (this.exists(to)) throw new KernelError('EEXIST', `${to} exists already; a new store file may not replace it`);
    this.rename(from, to);
    this.syncDir(dirname(to));
    return this.open(to, 'readWrite');
  }

  /**
   * The new content is in place before the old one becomes the backup: with the other order a cut in between could leave a
   * damaged main file beside its own copy.
   */
  replace(path: string, content: Uint8Array | string, keepBackup: boolean): void {
    this.makeDir(dirname(path));
    const old = keepBackup && this.exists(path) ? this.readAll(path) : undefined;
    this.replaceOne(path, typeof content === 'string' ? Buffer.from(content) : content);
    if (old !== undefined && old.length > 0) this.replaceOne(`${path}.bak`, old);
  }

  private replaceOne(path: string, content: Uint8Array): void {
    const temporary = `${path}.tmp`;
    const file = this.create(temporary);
    try {
      file.write(content, 0, content.length, 0);
      file.sync();
    } catch (error) {
      file.close();
      this.unlinkQuietly(temporary);
      throw error;
    }
    file.close();
    this.rename(temporary, path);
    this.syncDir(dirname(path));
  }

  makeDir(path: string): void {
    if (this.exists(path)) return;
    const parent = dirname(path);
    if (parent !== path) this.makeDir(parent);
    this.makeOneDir(path);
    this.syncDir(parent);
  }

  private makeDirUnsynced(path: string, unsynced: Set<string>): void {
    if (this.exists(path)) return;
    const parent = dirname(path);
    if (parent !== path) this.makeDirUnsynced(parent, unsynced);
    this.makeOneDir(path);
    unsynced.add(parent);
  }

  /** The folder is synced, so that files removed one after the other are gone in that order after a power cut, too. */
  remove(path: string): void {
    this.unlink(path);
    this.syncDir(dirname(path));
  }

  removeTree(path: string): void {
    if (!this.exists(path)) return;
    this.unlinkTree(path);
    this.syncDir(dirname(path));
  }

  private unlinkQuietly(path: string): void {
    try {
      this.unlink(path);
    } catch {
      // The error that led here says more; what is left lies under a temporary name.
    }
  }
}

function touch(file: StoreFile, size: number, syncBytes: number): void {
  const zeros = Buffer.alloc(Math.min(size, 1 << 20));
  let unsynced = 0;
  for (let at = 0; at < size; at += zeros.length) {
    const length = Math.min(zeros.length, size - at);
    file.write(zeros, 0, length, at);
    unsynced += length;
    if (unsynced < syncBytes) continue;
    file.sync();
    unsynced = 0;
  }
}
