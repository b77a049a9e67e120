import { join } from 'node:path';
import { assert } from '../../kernel/base/assert.js';
import { KernelError } from '../../kernel/base/errors.js';
import { isValidTopic } from '../../protocol/message/names.js';
import { listBases } from '../commitlog/segment-check.js';
import type { StoreFiles } from '../files/contract.js';
import { OpenFiles } from '../files/open-files.js';
import { readAcross } from '../files/read-across.js';
import { segmentName } from '../files/paths.js';
import { expireExt } from './ext-cut.js';
import {
  EXT_BLANK_BYTES,
  EXT_FILE_END,
  EXT_UNIT_BYTES_MIN,
  extUnitBytes,
  type ExtUnits,
  setUnitExtOffset,
} from './ext-unit.js';
import { UNIT_BYTES } from './unit.js';

export interface ExtFilesOptions {
  /** The folder `consumequeue_ext`. */
  readonly dir: string;
  /** Bytes of one file (mappedFileSizeConsumeQueueExt). */
  readonly fileBytes: number;
  /** Whether ext units are written (enableConsumeQueueExt); those that are there are read in any case. */
  readonly enabled: boolean;
}

interface Access {
  readonly files: StoreFiles;
  readonly temporaryDir: string;
  readonly openMax: number;
  readonly mode: 'read' | 'readWrite';
}

/** Where a queue's next ext unit goes. */
interface QueueEnd {
  /** Queue offset of the unit that it belongs to; -1 when that is not known. */
  nextOffset: number;
  end: number;
}

/**
 * The ext files of all queues as one thread sees them (4.9: ConsumeQueueExt). Where a queue's ext unit goes follows from the
 * ConsumeQueue unit before its own: right behind the ext unit that one points to. So dispatching again writes the same bytes to the
 * same places, and no start makes the files longer than their units need.
 */
export class ExtFiles {
  readonly dir: string;
  readonly fileBytes: number;
  readonly enabled: boolean;
  readonly #access: Access;
  readonly #open: OpenFiles;
  readonly #ends = new Map<string, QueueEnd>();
  readonly #dirty = new Set<string>();

  constructor(options: ExtFilesOptions, access: Access) {
    assert(
      options.fileBytes >= EXT_UNIT_BYTES_MIN + EXT_BLANK_BYTES,
      `ext file size ${options.fileBytes} is too small`,
    );
    this.dir = options.dir;
    this.fileBytes = options.fileBytes;
    this.enabled = options.enabled;
    this.#access = access;
    this.#open = new OpenFiles(access.files, access.mode, access.openMax);
  }

  /**
   * Writes the ext units of `ext.length` bytes that belong to the ConsumeQueue units from `queueOffset` on, and puts their addresses
   * into `units`. `endBefore` tells where the ext unit of the unit before ends; it is asked only when that is not the last one
   * written here. On disk after `syncDirty`, which must come before the ConsumeQueue's.
   */
  place(
    topic: string,
    queueId: number,
    queueOffset: number,
    units: Buffer,
    unitsOffset: number,
    ext: ExtUnits,
    endBefore: () => number,
  ): void {
    const queue = this.#endOf(topic, queueId);
    let end = queue.nextOffset === queueOffset ? queue.end : endBefore();
    queue.nextOffset = -1;
    const { bytes, length } = ext;
    const dir = this.queueDir(topic, queueId);
    let unit = 0;
    let from = 0;
    let start = end;
    for (let at = 0; at < length; unit += 1) {
      const size = extUnitBytes(bytes, at, length);
      assert(
        size > 0 && size + EXT_BLANK_BYTES <= this.fileBytes,
        `no ext unit at ${at} of ${length} that fits a file`,
      );
      const room = this.fileBytes - (end % this.fileBytes);
      if (size + EXT_BLANK_BYTES > room) {
        this.#writeLast(dir, start, bytes, from, at);
        start = end += room;
        from = at;
      }
      setUnitExtOffset(units, unitsOffset + unit * UNIT_BYTES, end);
      end += size;
      at += size;
    }
    this.#write(dir, start, bytes, from, length);
    queue.end = end;
    queue.nextOffset = queueOffset + unit;
  }

  /** Reads up to `length` bytes from an offset on, at most to the end of its file; returns how many were there. */
  read(topic: string, queueId: number, extOffset: number, target: Buffer, length: number): number {
    if (!Number.isSafeInteger(extOffset)) return 0;
    const inFile = extOffset % this.fileBytes;
    const file = this.#open.tryGet(join(this.queueDir(topic, queueId), segmentName(extOffset - inFile)));
    return file === undefined ? 0 : file.read(target, 0, Math.min(length, this.fileBytes - inFile), inFile);
  }

  /** Reads `length` bytes, across file ends, without holding the thread; what is not there is not read. */
  async readAsync(topic: string, queueId: number, extOffset: number, length: number): Promise<void> {
    const dir = this.queueDir(topic, queueId);
    await readAcross(this.#access.files, dir, this.fileBytes, Buffer.allocUnsafe(length), extOffset);
  }

  /** First offsets, in bytes, of a queue's files. */
  bases(topic: string, queueId: number): number[] {
    return listBases(this.#access.files, this.queueDir(topic, queueId));
  }

  /** Paths of all ext files. */
  *paths(): IterableIterator<string> {
    const { files } = this.#access;
    for (const topic of files.list(this.dir).filter(isValidTopic))
      for (const queueId of files.list(join(this.dir, topic)))
        for (const base of listBases(files, join(this.dir, topic, queueId)))
          yield join(this.dir, topic, queueId, segmentName(base));
  }

  /** Throws NAME_INVALID for what may not become a path. */
  queueDir(topic: string, queueId: number): string {
    if (isValidTopic(topic) && Number.isInteger(queueId) && queueId >= 0) return join(this.dir, topic, String(queueId));
    throw new KernelError('NAME_INVALID', `"${topic.slice(0, 200)}", queue ${queueId}, may not become a store folder`);
  }

  /** Syncs the files written since. Throws what the disk throws. */
  syncDirty(): void {
    for (const path of this.#dirty) {
      this.#open.tryGet(path)?.sync();
      this.#dirty.delete(path);
    }
  }

  /** Removes the files that end before `extOffset`, never the last. */
  expire(topic: string, queueId: number, extOffset: number): void {
    for (const path of expireExt(this.#access.files, this.dir, topic, queueId, extOffset)) {
      this.#open.close(path);
      this.#dirty.delete(path);
    }
  }

  /** Removes a topic's ext files, or those of one of its queues. */
  remove(topic: string, queueId?: number): void {
    this.forget(topic, queueId);
    this.#access.files.removeTree(queueId === undefined ? join(this.dir, topic) : this.queueDir(topic, queueId));
  }

  /** Lets go of the descriptors of a topic, or of one queue, because its files changed behind this instance. */
  forget(topic: string, queueId?: number): void {
    const below = join(topic, queueId === undefined ? '' : String(queueId), '/');
    const prefix = join(this.dir, below);
    this.#open.closeUnder(prefix);
    for (const path of [...this.#dirty]) if (path.startsWith(prefix)) this.#dirty.delete(path);
    for (const key of [...this.#ends.keys()]) if (`${key}/`.startsWith(below)) this.#ends.delete(key);
  }

  close(): void {
    this.#open.closeAll();
  }

  #endOf(topic: string, queueId: number): QueueEnd {
    const key = `${topic}/${queueId}`;
    let queue = this.#ends.get(key);
    if (queue === undefined) this.#ends.set(key, (queue = { nextOffset: -1, end: 0 }));
    return queue;
  }

  /** What is a file's last, with the mark that says so behind it. */
  #writeLast(dir: string, extOffset: number, bytes: Buffer, from: number, to: number): void {
    const next = bytes.readInt16BE(to);
    bytes.writeInt16BE(EXT_FILE_END, to);
    this.#write(dir, extOffset, bytes, from, to + 2);
    bytes.writeInt16BE(next, to);
  }

  #write(dir: string, extOffset: number, bytes: Buffer, from: number, to: number): void {
    const inFile = extOffset % this.fileBytes;
    const path = join(dir, segmentName(extOffset - inFile));
    const { files, temporaryDir } = this.#access;
    const file = this.#open.tryGet(path) ?? this.#open.put(files.createComplete(path, this.fileBytes, temporaryDir));
    this.#dirty.add(path);
    file.write(bytes, from, to - from, inFile);
  }
}
