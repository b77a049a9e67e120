import { join } from 'node:path';
import { assert } from '../../kernel/base/assert.js';
import { systemCodeOf } from '../../kernel/base/errors.js';
import type { StoreFile, StoreFiles } from '../files/contract.js';
import { segmentName } from '../files/paths.js';
import { checkSegments, listBases, type SegmentListing } from './segment-check.js';
import { finishCuts } from './cut.js';

/** An open segment: `base` is the physical offset of its first byte. */
export interface SegmentView {
  readonly file: StoreFile;
  readonly base: number;
}

interface Entry {
  readonly base: number;
  readonly path: string;
  view: SegmentView | undefined;
  mode: 'read' | 'readWrite';
  /** Asynchronous reads under way; such a descriptor stays open. */
  pins: number;
}

const OPEN_MAX = 64;

/**
 * The commit log's files of one folder, all of `segmentBytes`, as one row of bytes. Each thread has its own instance: one writes,
 * the others read, and notice new files when they look beyond what they know. Offsets are physical offsets in bytes.
 */
export class Segments {
  #entries: Entry[] = [];
  /** Entries with an open descriptor, the one unused for longest first. */
  readonly #opened = new Set<Entry>();

  constructor(
    readonly files: StoreFiles,
    readonly dir: string,
    readonly temporaryDir: string,
    readonly segmentBytes: number,
  ) {
    assert(Number.isSafeInteger(segmentBytes) && segmentBytes > 0, `segment size ${segmentBytes} is not valid`);
  }

  /** Throws SEGMENT_SIZE, SEGMENT_NAME or SEGMENT_MISSING when the files cannot be these segments; changes nothing. */
  static check(files: StoreFiles, dir: string, segmentBytes: number): SegmentListing {
    return checkSegments(files, dir, segmentBytes);
  }

  /**
   * Loads the names there are. `readWrite` is for the one that recovers and writes: it finishes a cut that a crash interrupted and
   * drops an empty last file, which a crash left between making and extending it. Nothing changes when the check refuses.
   */
  open(mode: 'read' | 'readWrite' = 'readWrite'): SegmentListing {
    if (mode === 'readWrite') finishCuts(this.files, this.dir, this.temporaryDir, this.segmentBytes);
    const listing = checkSegments(this.files, this.dir, this.segmentBytes);
    if (mode === 'readWrite' && listing.emptyLast !== undefined) this.files.remove(listing.emptyLast);
    this.#adopt(listing.bases);
    return listing;
  }

  bases(): number[] {
    return this.#entries.map((entry) => entry.base);
  }

  /** Offset of the first byte that is there; 0 when there is no file. */
  get minOffset(): number {
    return this.#entries[0]?.base ?? 0;
  }

  /** Offset after the last file, written or not; 0 when there is no file. */
  get endOffset(): number {
    const last = this.#entries[this.#entries.length - 1];
    return last === undefined ? 0 : last.base + this.segmentBytes;
  }

  get count(): number {
    return this.#entries.length;
  }

  /**
   * The file that holds `offset`, for writing. Makes the next one, complete, when the offset is where the last one ends; in an empty
   * log the one that the offset lies in. `readyPath` may name a file that waits, complete, to become the next one.
   */
  ensure(offset: number, readyPath?: string): StoreFile {
    const known = this.fileAt(offset, 'readWrite');
    if (known !== undefined) return known.file;
    const base = offset - (offset % this.segmentBytes);
    assert(
      this.#entries.length === 0 || base === this.endOffset,
      `segment at ${base} would leave a gap after ${this.endOffset}`,
    );
    const path = join(this.dir, segmentName(base));
    const file = this.#moveIn(readyPath, path) ?? this.files.createComplete(path, this.segmentBytes, this.temporaryDir);
    const entry: Entry = { base, path, view: { file, base }, mode: 'readWrite', pins: 0 };
    this.#entries.push(entry);
    this.#used(entry);
    return file;
  }

  /** The open segment that holds `offset`, or undefined when no file does. The same object as long as the descriptor is open. */
  fileAt(offset: number, mode: 'read' | 'readWrite'): SegmentView | undefined {
    const entry = this.#find(offset);
    return entry === undefined ? undefined : this.#view(entry, mode);
  }

  /** Reads across segment ends; returns how much was read, less than `length` only where the files end. */
  read(target: Uint8Array, targetOffset: number, length: number, physicalOffset: number): number {
    let done = 0;
    while (done < length) {
      const at = physicalOffset + done;
      const view = this.fileAt(at, 'read');
      if (view === undefined) break;
      const wanted = Math.min(length - done, view.base + this.segmentBytes - at);
      const count = view.file.read(target, targetOffset + done, wanted, at - view.base);
      done += count;
      if (count < wanted) break;
    }
    return done;
  }

  async readAsync(target: Uint8Array, targetOffset: number, length: number, physicalOffset: number): Promise<number> {
    let done = 0;
    while (done < length) {
      const at = physicalOffset + done;
      const entry = this.#find(at);
      const view = entry === undefined ? undefined : this.#view(entry, 'read');
      if (entry === undefined || view === undefined) break;
      const wanted = Math.min(length - done, view.base + this.segmentBytes - at);
      entry.pins += 1;
      let count: number;
      try {
        count = await view.file.readAsync(target, targetOffset + done, wanted, at - view.base);
      } finally {
        entry.pins -= 1;
      }
      done += count;
      if (count < wanted) break;
    }
    return done;
  }

  /** Looks at the folder again: takes in files that another thread made, lets go of those that it removed. */
  refresh(): void {
    this.#adopt(listBases(this.files, this.dir));
  }

  /** Removes the whole segments that begin at or beyond `offset`, the last one first; returns their names. */
  dropFrom(offset: number): string[] {
    const removed: string[] = [];
    for (;;) {
      const last = this.#entries[this.#entries.length - 1];
      if (last === undefined || last.base < offset) return removed;
      this.#shut(last);
      this.files.remove(last.path);
      this.#entries.pop();
      removed.push(segmentName(last.base));
    }
  }

  /** Removes the whole segments that end at or before `offset`, the first one first, never the last; returns their names. */
  dropBelow(offset: number): string[] {
    const removed: string[] = [];
    for (;;) {
      const first = this.#entries[0];
      if (first === undefined || this.#entries.length === 1 || first.base + this.segmentBytes > offset) return removed;
      this.#shut(first);
      this.files.remove(first.path);
      this.#entries.shift();
      removed.push(segmentName(first.base));
    }
  }

  /**
   * Lets go of the segments that end at or before `offset`, because they are removed elsewhere: as long as one descriptor is open,
   * the disk gets nothing back.
   */
  forgetBelow(offset: number): void {
    for (let first = this.#entries[0]; first !== undefined; first = this.#entries[0]) {
      if (first.base + this.segmentBytes > offset) return;
      this.#shut(first);
      this.#entries.shift();
    }
  }

  close(): void {
    for (const entry of this.#entries) this.#shut(entry);
  }

  /** Undefined when nothing is ready: it went away, or lies on another file system. */
  #moveIn(readyPath: string | undefined, path: string): StoreFile | undefined {
    if (readyPath === undefined) return undefined;
    try {
      return this.files.moveIn(readyPath, path);
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'ENOENT' || code === 'EXDEV') return undefined;
      throw error;
    }
  }

  #find(offset: number): Entry | undefined {
    const found = this.#findKnown(offset);
    if (found !== undefined || offset < this.minOffset) return found;
    this.refresh();
    return this.#findKnown(offset);
  }

  #findKnown(offset: number): Entry | undefined {
    const index = Math.floor((offset - this.minOffset) / this.segmentBytes);
    return index < 0 ? undefined : this.#entries[index];
  }

  #view(entry: Entry, mode: 'read' | 'readWrite'): SegmentView | undefined {
    if (entry.view !== undefined && mode === 'readWrite' && entry.mode === 'read') this.#shut(entry);
    if (entry.view === undefined) {
      try {
        entry.view = { file: this.files.open(entry.path, mode), base: entry.base };
      } catch (error) {
        // Retention, on another thread, removed it meanwhile.
        if (systemCodeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
      entry.mode = mode;
      this.#used(entry);
    }
    return entry.view;
  }

  /** Closing takes the descriptor that was opened first; reads in sequence make that the one used least. */
  #used(entry: Entry): void {
    this.#opened.add(entry);
    if (this.#opened.size <= OPEN_MAX) return;
    for (const candidate of this.#opened) {
      if (candidate === entry || candidate.pins > 0) continue;
      this.#shut(candidate);
      return;
    }
  }

  #shut(entry: Entry): void {
    entry.view?.file.close();
    entry.view = undefined;
    this.#opened.delete(entry);
  }

  #adopt(bases: readonly number[]): void {
    const known = new Map(this.#entries.map((entry) => [entry.base, entry]));
    this.#entries = bases.map((base) => {
      const entry = known.get(base);
      known.delete(base);
      return entry ?? { base, path: join(this.dir, segmentName(base)), view: undefined, mode: 'read', pins: 0 };
    });
    for (const gone of known.values()) this.#shut(gone);
  }
}
