import fs from 'node:fs';
import type { StoreFile, StoreFiles } from './contract.js';
import { OrderedFiles, type RenamableFile } from './ordered-files.js';
import { KernelError, systemCodeOf } from '../../kernel/base/errors.js';

/** The machine's files by synchronous calls; `readAsync` goes through Node's thread pool. */
class NodeFiles extends OrderedFiles {
  override open(path: string, mode: 'read' | 'readWrite'): StoreFile {
    return new NodeFile(path, fs.openSync(path, mode === 'read' ? 'r' : 'r+'));
  }

  protected override create(path: string): RenamableFile {
    return new NodeFile(path, fs.openSync(path, 'w+'));
  }

  override list(dir: string): string[] {
    try {
      return fs.readdirSync(dir).sort();
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  override exists(path: string): boolean {
    return fs.existsSync(path);
  }

  override sizeOf(path: string): number {
    return fs.statSync(path).size;
  }

  override modifiedMs(path: string): number {
    return fs.statSync(path).mtimeMs;
  }

  override readAll(path: string): Buffer {
    try {
      return fs.readFileSync(path);
    } catch (error) {
      if (systemCodeOf(error) !== 'EISDIR') throw error;
      // The system does not say which.
      throw new KernelError('STORE_LAYOUT', `${path} is a folder, and must be a file`, {
        cause: error,
        remedy: 'move the folder away, or choose another store; nothing was changed',
      });
    }
  }

  protected override rename(from: string, to: string): void {
    fs.renameSync(from, to);
  }

  protected override makeOneDir(path: string): void {
    fs.mkdirSync(path, { recursive: true });
  }

  /** A new or renamed name is on disk only after its folder was synced. Windows has no such call and needs none. */
  protected override syncDir(path: string): void {
    if (process.platform === 'win32') return;
    const descriptor = fs.openSync(path, 'r');
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  }

  protected override unlink(path: string): void {
    fs.unlinkSync(path);
  }

  protected override unlinkTree(path: string): void {
    fs.rmSync(path, { recursive: true, force: true });
  }
}

class NodeFile implements RenamableFile {
  #path: string;
  #descriptor: number;
  #pendingReads = 0;
  #closed = false;

  constructor(path: string, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
  }

  get path(): string {
    return this.#path;
  }

  renamed(path: string): void {
    this.#path = path;
  }

  read(target: Uint8Array, targetOffset: number, length: number, position: number): number {
    this.#checkOpen('read');
    let done = 0;
    while (done < length) {
      const count = fs.readSync(this.#descriptor, target, targetOffset + done, length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  async readAsync(target: Uint8Array, targetOffset: number, length: number, position: number): Promise<number> {
    this.#checkOpen('read');
    this.#pendingReads += 1;
    try {
      let done = 0;
      while (done < length) {
        const count = await readOnce(this.#descriptor, target, targetOffset + done, length - done, position + done);
        if (count === 0) break;
        done += count;
      }
      return done;
    } finally {
      this.#pendingReads -= 1;
      if (this.#closed && this.#pendingReads === 0) this.#closeNow();
    }
  }

  write(source: Uint8Array, sourceOffset: number, length: number, position: number): void {
    this.#checkOpen('write');
    let done = 0;
    while (done < length) {
      done += fs.writeSync(this.#descriptor, source, sourceOffset + done, length - done, position + done);
    }
  }

  sync(): void {
    this.#checkOpen('sync');
    fs.fdatasyncSync(this.#descriptor);
  }

  size(): number {
    this.#checkOpen('size');
    return fs.fstatSync(this.#descriptor).size;
  }

  truncate(size: number): void {
    this.#checkOpen('truncate');
    fs.ftruncateSync(this.#descriptor, size);
  }

  /** A read still under way keeps the descriptor: its number would be given to another file, and that one be read. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#pendingReads === 0) this.#closeNow();
  }

  #closeNow(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = -1;
    fs.closeSync(descriptor);
  }

  #checkOpen(operation: string): void {
    if (this.#closed) throw new Error(`${operation} of ${this.#path} after it was closed`);
  }
}

function readOnce(
  descriptor: number,
  target: Uint8Array,
  offset: number,
  length: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(descriptor, target, offset, length, position, (error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

export const nodeFiles: StoreFiles = new NodeFiles();
