import { dirname, basename, resolve } from 'node:path';
import type { Clock } from '../../kernel/base/clock.js';
import { KernelError } from '../../kernel/base/errors.js';
import type { StoreFile } from './contract.js';
import { OrderedFiles, type RenamableFile } from './ordered-files.js';

const PAGE_BYTES = 64 * 1024;

/** Pages exist once something was written to them; all others read as zeros, as in a sparse file. */
class Content {
  readonly pages = new Map<number, Buffer>();
  size = 0;
  modifiedMs = 0;
  linked = true;
}

/** A store in memory, at most `bytesMax` bytes of pages. All of a process's services share one instance; it never crosses threads. */
export class MemoryFiles extends OrderedFiles {
  readonly #bytesMax: number;
  readonly #contents = new Map<string, Content>();
  readonly #dirs = new Map<string, Set<string>>([['/', new Set()]]);
  readonly #clock: Clock | undefined;
  #bytesUsed = 0;
  #shortBytes = 0;
  #onShort: () => void = () => undefined;

  /** Without a clock every file was last written to at 0. */
  constructor(bytesMax: number, clock?: Clock) {
    super();
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  get bytesUsed(): number {
    return this.#bytesUsed;
  }

  get bytesFree(): number {
    return this.#bytesMax - this.#bytesUsed;
  }

  /** `listener` hears of each page that is taken, or cannot be, while fewer than `bytes` are free. It must not touch files at once. */
  whenShort(bytes: number, listener: () => void): void {
    this.#shortBytes = bytes;
    this.#onShort = listener;
  }

  get nowMs(): number {
    return this.#clock?.wallMs() ?? 0;
  }

  override open(path: string, _mode: 'read' | 'readWrite'): StoreFile {
    return new MemoryFile(this, path, this.#content(path));
  }

  protected override create(path: string): RenamableFile {
    const key = resolve(path);
    const existing = this.#contents.get(key);
    if (existing !== undefined) this.release(existing, 0);
    const content = existing ?? new Content();
    content.size = 0;
    this.#parent(key).add(basename(key));
    this.#contents.set(key, content);
    return new MemoryFile(this, path, content);
  }

  override list(dir: string): string[] {
    return [...(this.#dirs.get(resolve(dir)) ?? [])].sort();
  }

  override exists(path: string): boolean {
    const key = resolve(path);
    return this.#contents.has(key) || this.#dirs.has(key);
  }

  override sizeOf(path: string): number {
    return this.#content(path).size;
  }

  override modifiedMs(path: string): number {
    return this.#content(path).modifiedMs;
  }

  override readAll(path: string): Buffer {
    const file = new MemoryFile(this, path, this.#content(path));
    const bytes = Buffer.alloc(file.size());
    file.read(bytes, 0, bytes.length, 0);
    return bytes;
  }

  protected override rename(from: string, to: string): void {
    const content = this.#content(from);
    const target = resolve(to);
    const replaced = this.#contents.get(target);
    this.#parent(target).add(basename(target));
    this.#contents.set(target, content);
    this.#contents.delete(resolve(from));
    this.#parent(resolve(from)).delete(basename(from));
    if (replaced !== undefined) this.#drop(replaced);
  }

  protected override makeOneDir(path: string): void {
    const key = resolve(path);
    if (this.#contents.has(key)) throw systemError('EEXIST', path);
    if (this.#dirs.has(key)) return;
    this.#parent(key).add(basename(key));
    this.#dirs.set(key, new Set());
  }

  protected override syncDir(_path: string): void {
    // Memory is as safe as it gets.
  }

  protected override unlink(path: string): void {
    const content = this.#content(path);
    this.#contents.delete(resolve(path));
    this.#parent(resolve(path)).delete(basename(path));
    this.#drop(content);
  }

  protected override unlinkTree(path: string): void {
    const key = resolve(path);
    if (this.#contents.has(key)) return this.unlink(key);
    for (const name of this.list(key)) this.unlinkTree(`${key}/${name}`);
    this.#dirs.delete(key);
    this.#parent(key).delete(basename(key));
  }

  /** A page of the bounded memory, filled with zeros. */
  take(path: string): Buffer {
    if (this.bytesFree - PAGE_BYTES < this.#shortBytes) this.#onShort();
    if (this.#bytesUsed + PAGE_BYTES > this.#bytesMax) {
      throw new KernelError(
        'ENOSPC',
        `the memory store is full: ${path} needs ${PAGE_BYTES} more bytes and memoryStoreBytesMax is ${this.#bytesMax}`,
        { remedy: 'raise memoryStoreBytesMax, or start with a store folder instead of --memory' },
      );
    }
    this.#bytesUsed += PAGE_BYTES;
    return Buffer.alloc(PAGE_BYTES);
  }

  /** Frees the pages that lie wholly at or beyond `size`. */
  release(content: Content, size: number): void {
    const firstPage = Math.ceil(size / PAGE_BYTES);
    for (const page of content.pages.keys()) {
      if (page < firstPage) continue;
      content.pages.delete(page);
      if (content.linked) this.#bytesUsed -= PAGE_BYTES;
    }
  }

  /** An open file keeps reading what it had; its pages no longer count. */
  #drop(content: Content): void {
    this.#bytesUsed -= content.pages.size * PAGE_BYTES;
    content.linked = false;
  }

  #content(path: string): Content {
    const content = this.#contents.get(resolve(path));
    if (content === undefined) throw systemError('ENOENT', path);
    return content;
  }

  #parent(key: string): Set<string> {
    const children = this.#dirs.get(dirname(key));
    if (children === undefined) throw systemError('ENOENT', dirname(key));
    return children;
  }
}

class MemoryFile implements RenamableFile {
  readonly #files: MemoryFiles;
  readonly #content: Content;
  #path: string;

  constructor(files: MemoryFiles, path: string, content: Content) {
    this.#files = files;
    this.#path = path;
    this.#content = content;
  }

  get path(): string {
    return this.#path;
  }

  renamed(path: string): void {
    this.#path = path;
  }

  read(target: Uint8Array, targetOffset: number, length: number, position: number): number {
    const total = Math.max(0, Math.min(length, this.#content.size - position));
    let done = 0;
    while (done < total) {
      const at = position + done;
      const inPage = at % PAGE_BYTES;
      const count = Math.min(PAGE_BYTES - inPage, total - done);
      const page = this.#content.pages.get((at - inPage) / PAGE_BYTES);
      if (page === undefined) target.fill(0, targetOffset + done, targetOffset + done + count);
      else target.set(page.subarray(inPage, inPage + count), targetOffset + done);
      done += count;
    }
    return total;
  }

  readAsync(target: Uint8Array, targetOffset: number, length: number, position: number): Promise<number> {
    return Promise.resolve(this.read(target, targetOffset, length, position));
  }

  write(source: Uint8Array, sourceOffset: number, length: number, position: number): void {
    const { pages } = this.#content;
    let done = 0;
    while (done < length) {
      const at = position + done;
      const inPage = at % PAGE_BYTES;
      const count = Math.min(PAGE_BYTES - inPage, length - done);
      const index = (at - inPage) / PAGE_BYTES;
      let page = pages.get(index);
      if (page === undefined) {
        page = this.#files.take(this.#path);
        pages.set(index, page);
      }
      page.set(source.subarray(sourceOffset + done, sourceOffset + done + count), inPage);
      done += count;
      this.#content.size = Math.max(this.#content.size, at + count);
    }
    this.#content.modifiedMs = this.#files.nowMs;
  }

  sync(): void {
    // Nothing lies between a write and the memory.
  }

  size(): number {
    return this.#content.size;
  }

  truncate(size: number): void {
    if (size < this.#content.size) {
      this.#files.release(this.#content, size);
      const inPage = size % PAGE_BYTES;
      this.#content.pages.get((size - inPage) / PAGE_BYTES)?.fill(0, inPage);
    }
    this.#content.size = size;
  }

  close(): void {
    // Nothing is held but memory.
  }
}

/** What `fs` would throw, so that callers look at one kind of code. */
function systemError(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${path}`), { code, path });
}
