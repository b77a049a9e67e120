import { join } from 'node:path';
import { SysFlag } from '../../protocol/codes.js';
import type { DispatchFields } from '../dispatch/read-dispatch.js';
import type { StoreFile, StoreFiles } from '../files/contract.js';
import { nextIndexFileName } from './file-names.js';
import { listIndexFiles, readHeaderOf } from './index-folder.js';
import { keyHash, topicHash } from './key-hash.js';
import {
  emptyHeader,
  entryAt,
  ENTRY_BEFORE_AT,
  ENTRY_BYTES,
  ENTRY_OFFSET_AT,
  ENTRY_SECONDS_AT,
  entrySeconds,
  headerAfter,
  indexHeaderBytes,
  type IndexHeader,
  type IndexLayout,
} from './layout.js';
import { keysPut } from './keys-put.js';
import { replaySlots } from './replay.js';
import { type IndexMemory, SharedIndex } from './shared-index.js';
import { Slots } from './slots.js';

/** Entries collected between two writes at most. */
const PENDING_MAX = 16_384;
const BLANK = 0x20;
const TWO_32 = 4294967296;

/**
 * Who keeps the checkpoint's index time true; times are store times in ms.
 */
export interface IndexVouch {
  /**
   * Before a file is overwritten in place: from now on only what is not newer than `timestamp` may be believed after a crash. Throws
   * when that cannot be written and synced; the file is left alone then.
   */
  lower(timestamp: number): void;
  /** The file is synced: everything up to `timestamp` may be believed. Never throws. */
  raise(timestamp: number): void;
}

export interface IndexWriterOptions {
  readonly files: StoreFiles;
  /** The folder `index`. */
  readonly dir: string;
  readonly temporaryDir: string;
  readonly layout: IndexLayout;
  readonly memory: IndexMemory;
  readonly vouch: IndexVouch;
  /** Wall clock, ms, for names. */
  readonly wallMs: () => number;
}

/** Prepared messages are indexed, rolled-back ones are not (4.9: IndexService#buildIndex). */
export function isIndexed(sysFlag: number): boolean {
  return (sysFlag & SysFlag.TRANSACTION_ROLLBACK) !== SysFlag.TRANSACTION_ROLLBACK;
}

/**
 * Builds the index: `add` each record in the log's order, then `flush`. Entries are collected and written in one go; readers see them
 * then. Slots and header reach the file with `writeBack`. After an error call `undo` and add the same records again: what is in the
 * file already is passed over. 4.9: IndexService, IndexFile
 */
export class IndexWriter {
  readonly #slots: Slots;
  readonly #shared: SharedIndex;
  readonly #entries = Buffer.allocUnsafeSlow(PENDING_MAX * ENTRY_BYTES);
  readonly #view = new DataView(this.#entries.buffer, 0, this.#entries.length);
  #pending = 0;
  #file: StoreFile | undefined;
  #name: string | undefined;
  /** Of the active file, with what is pending; of the last full one while there is no active file. */
  #header: IndexHeader;
  #published: IndexHeader;
  /** End of what the active file's header on disk says; Infinity while that says nothing. */
  #endOnDisk = Number.POSITIVE_INFINITY;
  /** Newest end of the full files. */
  #fullEnd = 0;
  #dirty = false;
  #unwritten = 0;
  #topic = '';
  #topicHash = topicHash('');

  /** Goes on with the last file of the folder; with the shared state when an earlier life of the thread left one. */
  constructor(private readonly options: IndexWriterOptions) {
    this.#slots = new Slots(options.memory.slots);
    this.#shared = new SharedIndex(options.memory.state);
    const inherited = this.#shared.sequence !== 0;
    const { header } = this.#shared.read();
    this.#header = inherited ? header : emptyHeader();
    this.#published = { ...this.#header };
    this.#openLast(inherited);
  }

  /** Whether the file lacks slots or header of what was added. */
  get dirty(): boolean {
    return this.#dirty;
  }

  /** Entries whose slots the file lacks; fewer than there are after a death of the thread. */
  get unwritten(): number {
    return this.#unwritten;
  }

  get failed(): boolean {
    return this.#shared.failed;
  }

  /** Indexes one record that `readDispatch` took apart. Throws the system's error when a file cannot be written. */
  add(buffer: Buffer, fields: DispatchFields): void {
    const { physicalOffset } = fields;
    const { endPhysical } = this.#header;
    if (physicalOffset < endPhysical || !isIndexed(fields.sysFlag)) return;
    const done = physicalOffset === endPhysical ? this.#keysPut(physicalOffset) : undefined;
    if (fields.topic !== this.#topic) {
      this.#topic = fields.topic;
      this.#topicHash = topicHash(fields.topic);
    }
    if (fields.uniqKeyEnd > 0) this.#add(buffer, fields.uniqKeyStart, fields.uniqKeyEnd, fields, done);
    for (let at = fields.keysStart; at < fields.keysEnd;) {
      let end = at;
      while (end < fields.keysEnd && buffer[end] !== BLANK) end++;
      if (end > at) this.#add(buffer, at, end, fields, done);
      at = end + 1;
    }
  }

  /** Writes what is pending and shows it to readers. */
  flush(): void {
    if (this.#pending === 0) return;
    const first = this.#header.next - this.#pending;
    this.#file?.write(this.#entries, 0, this.#pending * ENTRY_BYTES, entryAt(this.options.layout, first));
    this.#unwritten += this.#pending;
    this.#pending = 0;
    this.#dirty = true;
    this.#publish();
  }

  /** Takes back what is pending: slots get their entries before, newest first. */
  undo(): void {
    for (let left = this.#pending - 1; left >= 0; left--) {
      const at = left * ENTRY_BYTES;
      const slot = this.#view.getInt32(at) % this.options.layout.slots;
      this.#slots.set(slot, this.#view.getInt32(at + ENTRY_BEFORE_AT));
    }
    this.#pending = 0;
    this.#header = { ...this.#published };
  }

  /** Brings slots and header to the file and syncs it. Throws when that, or the checkpoint, fails. */
  writeBack(): void {
    this.flush();
    if (!this.#dirty || this.#file === undefined) return;
    const file = this.#file;
    const { endTimestamp } = this.#header;
    // The entries first, which no header on disk knows of yet: the time in which the file may not be believed is shorter then.
    if (!this.failed) this.#sync(file);
    this.options.vouch.lower(this.#believable(endTimestamp));
    this.#slots.writeDirty((bytes, start, length, position) => file.write(bytes, start, length, position));
    const bytes = indexHeaderBytes(this.#header);
    file.write(bytes, 0, bytes.length, 0);
    if (!this.failed) this.#sync(file);
    this.#dirty = false;
    this.#unwritten = 0;
    this.#endOnDisk = endTimestamp;
    if (!this.failed) this.options.vouch.raise(Math.max(endTimestamp, this.#fullEnd));
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #add(
    buffer: Buffer,
    start: number,
    end: number,
    fields: DispatchFields,
    done: Map<number, number> | undefined,
  ): void {
    const hash = keyHash(this.#topicHash, buffer, start, end);
    const before = done?.get(hash) ?? 0;
    if (before > 0) done?.set(hash, before - 1);
    else this.#put(hash, fields.physicalOffset, fields.storeTimestamp);
  }

  /** 4.9: IndexFile#putKey */
  #put(hash: number, physicalOffset: number, storeTimestamp: number): void {
    const { slots, entries } = this.options.layout;
    if (this.#file === undefined || this.#header.next >= entries) this.#roll();
    const header = this.#header;
    const slot = hash % slots;
    let before = this.#slots.get(slot);
    if (before <= 0 || before > header.next) before = 0;
    const at = this.#pending * ENTRY_BYTES;
    this.#view.setInt32(at, hash);
    this.#view.setInt32(at + ENTRY_OFFSET_AT, Math.floor(physicalOffset / TWO_32));
    this.#view.setInt32(at + ENTRY_OFFSET_AT + 4, physicalOffset | 0);
    this.#view.setInt32(at + ENTRY_SECONDS_AT, entrySeconds(header.beginTimestamp, storeTimestamp));
    this.#view.setInt32(at + ENTRY_BEFORE_AT, before);
    this.#slots.set(slot, header.next);
    if (header.next <= 1) {
      header.beginPhysical = physicalOffset;
      header.beginTimestamp = storeTimestamp;
    }
    if (before === 0) header.slotsUsed++;
    header.next++;
    header.endPhysical = physicalOffset;
    header.endTimestamp = storeTimestamp;
    this.#pending++;
    if (this.#pending === PENDING_MAX) this.flush();
  }

  /** The full file is finished and synced before the next one begins, complete, with slots of zeros. */
  #roll(): void {
    if (this.#file !== undefined) {
      this.writeBack();
      this.#fullEnd = Math.max(this.#fullEnd, this.#header.endTimestamp);
      this.#file.close();
      this.#file = undefined;
      this.#name = undefined;
      this.#publish();
    }
    const { files, dir, temporaryDir, layout } = this.options;
    const name = nextIndexFileName(this.options.wallMs(), listIndexFiles(files, dir).at(-1));
    this.#file = files.createComplete(join(dir, name), layout.fileBytes, temporaryDir);
    this.#slots.clear();
    this.#name = name;
    this.#endOnDisk = Number.POSITIVE_INFINITY;
    this.#header = headerAfter(this.#header);
    this.#publish();
  }

  #publish(): void {
    this.#published = { ...this.#header };
    this.#shared.publish({ name: this.#name, header: this.#header });
  }

  #sync(file: StoreFile): void {
    try {
      file.sync();
    } catch (error) {
      this.#shared.setFailed();
      throw error;
    }
  }

  /**
   * What may be believed while the active file is overwritten: the full files, but nothing that would make a reader of the
   * checkpoint believe the active one, whichever header it finds in it.
   */
  #believable(endTimestamp: number): number {
    return Math.max(0, Math.min(this.#fullEnd, this.#endOnDisk - 1, endTimestamp - 1));
  }

  #openLast(inherited: boolean): void {
    const { files, dir, layout } = this.options;
    const names = listIndexFiles(files, dir);
    const name = inherited ? this.#shared.read().name : names.at(-1);
    for (const each of names) {
      const header = each === name && inherited ? this.#header : readHeaderOf(files, join(dir, each));
      if (each === name && !inherited) this.#header = header;
      if (header.next >= layout.entries) this.#fullEnd = Math.max(this.#fullEnd, header.endTimestamp);
    }
    this.#published = { ...this.#header };
    if (name === undefined || this.#header.next >= layout.entries) {
      this.#slots.clear();
    } else {
      this.#name = name;
      const file = (this.#file = files.open(join(dir, name), 'readWrite'));
      if (inherited) {
        replaySlots(file, layout, this.#header.next, this.#slots);
        this.#dirty = true;
        this.#endOnDisk = readHeaderOf(files, file.path).endTimestamp;
      } else {
        const read = (target: Buffer, length: number, position: number): number =>
          file.read(target, 0, length, position);
        this.#slots.load(read, this.#header.next);
        this.#endOnDisk = this.#header.endTimestamp;
      }
    }
    this.#publish();
  }

  /** Which keys of the record the files hold already: hash → how often. */
  #keysPut(physicalOffset: number): Map<number, number> {
    this.flush();
    const { files, dir, layout } = this.options;
    const names = listIndexFiles(files, dir);
    return keysPut({ files, dir, layout }, names, { name: this.#name, next: this.#header.next }, physicalOffset);
  }
}
