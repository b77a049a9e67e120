import { join } from 'node:path';
import { assert } from '../../kernel/base/assert.js';
import { KernelError, systemCodeOf } from '../../kernel/base/errors.js';
import { isValidTopic } from '../../protocol/message/names.js';
import { listBases } from '../commitlog/segment-check.js';
import type { StoreFile, StoreFiles } from '../files/contract.js';
import { OpenFiles } from '../files/open-files.js';
import { readAcross } from '../files/read-across.js';
import { segmentName } from '../files/paths.js';
import { ExtFiles, type ExtFilesOptions } from './ext-files.js';
import { extEndBefore } from './ext-scan.js';
import { unitExtOffset, type ExtUnits } from './ext-unit.js';
import { minAbove, type QueueBounds, queueBounds } from './queue-scan.js';
import { truncateBeyond } from './queue-cut.js';
import { BLANK_SIZE, isRecordUnit, UNIT_BYTES } from './unit.js';

export interface QueueId {
  readonly topic: string;
  readonly queueId: number;
}

export interface QueueFilesOptions {
  readonly files: StoreFiles;
  /** The folder `consumequeue`. */
  readonly dir: string;
  readonly temporaryDir: string;
  /** Bytes of one file, a multiple of 20; see queueFileBytes. */
  readonly fileBytes: number;
  /** Descriptors open at a time, over all queues. */
  readonly openMax: number;
  readonly mode: 'read' | 'readWrite';
  readonly ext?: ExtFilesOptions;
}

function isQueueId(queueId: number): boolean {
  return Number.isInteger(queueId) && queueId >= 0 && queueId <= 0x7fffffff;
}

/** One queue's place; the path of the file used last is kept, since most calls stay in it. */
class QueueFolder {
  /** Where the next unit is expected; -1 before the first write of this run. */
  nextOffset = -1;
  #base = -1;
  #path = '';

  constructor(readonly dir: string) {}

  pathOf(base: number): string {
    if (base !== this.#base) {
      this.#path = join(this.dir, segmentName(base));
      this.#base = base;
    }
    return this.#path;
  }
}

/** Folders with new names, outer ones first, and files behind them. */
export interface Unsynced {
  readonly steps: readonly string[];
  /** So many of the steps are folders. */
  readonly names: number;
  done: number;
}

/**
 * All ConsumeQueue files as one thread sees them: the one that dispatches writes, others read, each with its own instance. A unit's
 * place is its queue offset × 20, so that writing it again changes nothing. Queue offsets count units.
 */
export class QueueFiles {
  readonly files: StoreFiles;
  readonly dir: string;
  readonly temporaryDir: string;
  readonly fileBytes: number;
  readonly ext: ExtFiles | undefined;
  readonly #open: OpenFiles;
  readonly #folders = new Map<string, Map<number, QueueFolder>>();
  readonly #dirty = new Set<string>();
  /** Folders with new names that are not synced. */
  readonly #newNames = new Set<string>();
  #syncError: unknown;

  constructor(options: QueueFilesOptions) {
    assert(
      options.fileBytes > 0 && options.fileBytes % UNIT_BYTES === 0,
      `queue file size ${options.fileBytes} is no multiple of 20`,
    );
    this.files = options.files;
    this.dir = options.dir;
    this.temporaryDir = options.temporaryDir;
    this.fileBytes = options.fileBytes;
    this.#open = new OpenFiles(options.files, options.mode, options.openMax);
    this.ext = options.ext === undefined ? undefined : new ExtFiles(options.ext, options);
  }

  get openCount(): number {
    return this.#open.count;
  }

  /**
   * Puts `unitBytes` bytes of whole units where they belong from `queueOffset` on, across file ends; missing files are made complete.
   * The units are in the page cache after it, on disk after `syncDirty`. `ext`: their ext units, which are written first; `units`
   * then get the addresses.
   */
  write(
    topic: string,
    queueId: number,
    queueOffset: number,
    units: Buffer,
    unitBytes: number,
    unitsOffset = 0,
    ext?: ExtUnits,
  ): void {
    if (ext !== undefined) this.#placeExt(topic, queueId, queueOffset, units, unitsOffset, ext);
    const folder = this.#folder(topic, queueId);
    const start = queueOffset * UNIT_BYTES;
    for (let done = 0; done < unitBytes;) {
      const inFile = (start + done) % this.fileBytes;
      const file = this.#ensure(folder, start + done - inFile);
      if (done === 0 && inFile > 0 && folder.nextOffset !== queueOffset) this.#closeGap(file, inFile);
      const count = Math.min(unitBytes - done, this.fileBytes - inFile);
      file.write(units, unitsOffset + done, count, inFile);
      this.#dirty.add(file.path);
      done += count;
    }
    folder.nextOffset = queueOffset + unitBytes / UNIT_BYTES;
  }

  /**
   * Up to `count` units from `queueOffset` on, raw; fewer where the files end. Units not yet written read as zeros: ask for none
   * beyond the dispatched end. Unknown queues give an empty buffer and leave no trace.
   */
  read(topic: string, queueId: number, queueOffset: number, count: number): Buffer {
    const target = Buffer.allocUnsafe(Math.max(0, count) * UNIT_BYTES);
    return target.subarray(0, this.readInto(target, topic, queueId, queueOffset, count));
  }

  /** The same, to the beginning of `target`; returns how many bytes. */
  readInto(target: Buffer, topic: string, queueId: number, queueOffset: number, count: number): number {
    const folder = this.#knownOrPassing(topic, queueId);
    if (folder === undefined || !(queueOffset >= 0) || count <= 0) return 0;
    const wanted = count * UNIT_BYTES;
    const start = queueOffset * UNIT_BYTES;
    let done = 0;
    while (done < wanted) {
      const inFile = (start + done) % this.fileBytes;
      const file = this.#open.tryGet(folder.pathOf(start + done - inFile));
      if (file === undefined) break;
      const part = Math.min(wanted - done, this.fileBytes - inFile);
      const got = file.read(target, done, part, inFile);
      done += got;
      if (got < part) break;
    }
    if (done > 0) this.#remember(topic, queueId, folder);
    return done - (done % UNIT_BYTES);
  }

  /** The same without holding the thread, on descriptors of its own: what else happens to the files meanwhile does not matter. */
  async readAsync(topic: string, queueId: number, queueOffset: number, count: number): Promise<Buffer> {
    const dir = this.queueDir(topic, queueId);
    const target = Buffer.allocUnsafe(count * UNIT_BYTES);
    const done = await readAcross(this.files, dir, this.fileBytes, target, queueOffset * UNIT_BYTES);
    return target.subarray(0, done - (done % UNIT_BYTES));
  }

  /** The queues that have a folder. What is no queue's is named in `skipped` and left alone. */
  list(): { readonly queues: QueueId[]; readonly skipped: string[] } {
    const queues: QueueId[] = [];
    const skipped: string[] = [];
    for (const topic of this.files.list(this.dir)) {
      if (!isValidTopic(topic)) {
        skipped.push(`${join(this.dir, topic)}: not a topic's name`);
        continue;
      }
      const names = this.#listFolder(join(this.dir, topic));
      if (names === undefined) skipped.push(`${join(this.dir, topic)}: a file where a topic's folder belongs`);
      for (const name of names ?? []) {
        const queueId = /^(?:0|[1-9]\d{0,9})$/.test(name) ? Number(name) : -1;
        if (isQueueId(queueId)) queues.push({ topic, queueId });
        else skipped.push(`${join(this.dir, topic, name)}: not a queue's id`);
      }
    }
    return { queues, skipped };
  }

  /** First offsets, in bytes, of a queue's files. */
  bases(topic: string, queueId: number): number[] {
    return listBases(this.files, this.queueDir(topic, queueId));
  }

  /** Paths of all files, ext files first: in this order they may be synced. */
  *paths(): IterableIterator<string> {
    if (this.ext !== undefined) yield* this.ext.paths();
    for (const { topic, queueId } of this.list().queues)
      for (const base of this.bases(topic, queueId)) yield join(this.queueDir(topic, queueId), segmentName(base));
  }

  /** See queueBounds. */
  bounds(topic: string, queueId: number): QueueBounds {
    return queueBounds(this, topic, queueId);
  }

  /** See minAbove; `bounds` are those of the queue now. */
  minAbove(
    topic: string,
    queueId: number,
    minPhysical: number,
    bounds: Pick<QueueBounds, 'minOffset' | 'maxOffset'> = this.bounds(topic, queueId),
  ): number {
    return minAbove(this, topic, queueId, minPhysical, bounds);
  }

  /** See truncateBeyond. */
  truncateBeyond(topic: string, queueId: number, physicalEnd: number): QueueBounds {
    return truncateBeyond(this, topic, queueId, physicalEnd);
  }

  /** Throws NAME_INVALID for what may not become a path. */
  queueDir(topic: string, queueId: number): string {
    if (!isValidTopic(topic) || !isQueueId(queueId)) {
      throw new KernelError(
        'NAME_INVALID',
        `"${topic.slice(0, 200)}", queue ${queueId}, may not become a store folder`,
      );
    }
    return join(this.dir, topic, String(queueId));
  }

  /** Whatever was written until now and is not synced. What comes after it is not in it. */
  takeUnsynced(): Unsynced {
    const unsynced = { steps: [...this.#newNames, ...this.#dirty], names: this.#newNames.size, done: 0 };
    this.#newNames.clear();
    this.#dirty.clear();
    return unsynced;
  }

  /**
   * Syncs at most `stepsMax` more folders or files of what was taken, new names first, and before them all ext files; returns how many
   * are left. After a failure each later call throws the same: what could not be written is lost, and a later success would hide it.
   */
  syncSome(unsynced: Unsynced, stepsMax: number): number {
    if (this.#syncError !== undefined) throw this.#syncError;
    try {
      if (unsynced.done === 0) this.ext?.syncDirty();
      const end = Math.min(unsynced.done + stepsMax, unsynced.steps.length);
      for (; unsynced.done < end; unsynced.done++) {
        const path = unsynced.steps[unsynced.done];
        if (unsynced.done < unsynced.names) this.files.syncNames([path]);
        else this.#open.tryGet(path)?.sync();
      }
    } catch (error) {
      this.#syncError = error;
      throw error;
    }
    return unsynced.steps.length - unsynced.done;
  }

  /** Syncs all of it at once. */
  syncDirty(): void {
    this.syncSome(this.takeUnsynced(), Number.POSITIVE_INFINITY);
  }

  /** Removes a topic's queues and forgets them. */
  remove(topic: string): void {
    if (!isValidTopic(topic)) return;
    this.#forget(join(this.dir, topic));
    this.#folders.delete(topic);
    this.files.removeTree(join(this.dir, topic));
    this.ext?.remove(topic);
  }

  removeQueue(topic: string, queueId: number): void {
    const dir = this.queueDir(topic, queueId);
    this.#forget(dir);
    this.#folders.get(topic)?.delete(queueId);
    this.files.removeTree(dir);
    this.ext?.remove(topic, queueId);
  }

  /** Removes the files that hold only units below `queueOffset`, the first one first, never the last; returns their names. */
  dropBelow(topic: string, queueId: number, queueOffset: number): string[] {
    const dir = this.queueDir(topic, queueId);
    const removed: string[] = [];
    for (const base of this.bases(topic, queueId).slice(0, -1)) {
      if (base + this.fileBytes > queueOffset * UNIT_BYTES) break;
      const path = join(dir, segmentName(base));
      this.#open.close(path);
      this.#dirty.delete(path);
      this.files.remove(path);
      removed.push(segmentName(base));
    }
    if (removed.length > 0) this.#expireExt(topic, queueId, queueOffset);
    return removed;
  }

  /** The ext files before the one that the unit at `queueOffset` points to. */
  #expireExt(topic: string, queueId: number, queueOffset: number): void {
    if (this.ext === undefined) return;
    const unit = this.read(topic, queueId, queueOffset, 1);
    const extOffset = unit.length === UNIT_BYTES && isRecordUnit(unit, 0) ? unitExtOffset(unit, 0) : -1;
    if (extOffset >= 0) this.ext.expire(topic, queueId, extOffset);
  }

  /** Lets go of a queue's descriptors because its files changed behind this instance. */
  forget(topic: string, queueId: number): void {
    this.#forget(this.queueDir(topic, queueId));
    this.#folders.get(topic)?.delete(queueId);
    this.ext?.forget(topic, queueId);
  }

  close(): void {
    this.#open.closeAll();
    this.ext?.close();
  }

  #placeExt(
    topic: string,
    queueId: number,
    queueOffset: number,
    units: Buffer,
    unitsOffset: number,
    ext: ExtUnits,
  ): void {
    const files = this.ext;
    assert(files?.enabled === true, 'ext units came while enableConsumeQueueExt is off');
    files.place(topic, queueId, queueOffset, units, unitsOffset, ext, () =>
      extEndBefore(this, files, topic, queueId, queueOffset),
    );
  }

  #forget(dir: string): void {
    const prefix = join(dir, '/');
    this.#open.closeUnder(prefix);
    for (const path of [...this.#dirty]) if (path.startsWith(prefix)) this.#dirty.delete(path);
  }

  #folder(topic: string, queueId: number): QueueFolder {
    const known = this.#folders.get(topic)?.get(queueId);
    if (known !== undefined) return known;
    const folder = new QueueFolder(this.queueDir(topic, queueId));
    this.#remember(topic, queueId, folder);
    return folder;
  }

  #knownOrPassing(topic: string, queueId: number): QueueFolder | undefined {
    const known = this.#folders.get(topic)?.get(queueId);
    if (known !== undefined) return known;
    return isValidTopic(topic) && isQueueId(queueId) ? new QueueFolder(this.queueDir(topic, queueId)) : undefined;
  }

  #remember(topic: string, queueId: number, folder: QueueFolder): void {
    let queues = this.#folders.get(topic);
    if (queues === undefined) {
      queues = new Map();
      this.#folders.set(topic, queues);
    }
    queues.set(queueId, folder);
  }

  #ensure(folder: QueueFolder, base: number): StoreFile {
    const path = folder.pathOf(base);
    const file = this.#open.tryGet(path);
    return file ?? this.#open.put(this.files.createUnsynced(path, this.fileBytes, this.temporaryDir, this.#newNames));
  }

  #listFolder(dir: string): string[] | undefined {
    try {
      return this.files.list(dir);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  /**
   * A queue whose first unit is not the file's first (its older messages are gone), or one with a gap: the units before are marked
   * blank, since 4.9 takes the first unwritten one for the queue's end (4.9: ConsumeQueue#fillPreBlank). Units are dispatched in
   * order, so what is unwritten before this one stays so.
   */
  #closeGap(file: StoreFile, inFile: number): void {
    const last = Buffer.alloc(UNIT_BYTES);
    file.read(last, 0, UNIT_BYTES, inFile - UNIT_BYTES);
    if (last.readInt32BE(8) > 0) return;
    const before = Buffer.alloc(inFile);
    file.read(before, 0, inFile, 0);
    let end = inFile;
    while (end > 0 && before.readInt32BE(end - UNIT_BYTES + 8) <= 0) {
      end -= UNIT_BYTES;
      before.fill(0, end, end + UNIT_BYTES);
      before.writeInt32BE(BLANK_SIZE, end + 8);
    }
    file.write(before, end, inFile - end, end);
    this.#dirty.add(file.path);
  }
}
