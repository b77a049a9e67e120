import { javaHash } from '../../protocol/message/hash.js';
import { readInt64 } from '../../protocol/int64.js';
import { KEY_SEPARATOR } from '../../protocol/message/properties.js';
import type { StoreFile, StoreFiles } from '../files/contract.js';
import type { Findings } from './findings.js';
import type { DamagedRanges } from './log-check.js';
import type { LogLookup } from './log-lookup.js';

/**
 * An index file: a header of 40 bytes (int64 begin and end timestamp, begin and end physical offset, int32 used slots, int32 count of
 * entries plus one), slots of int32 (the number of the newest entry of that slot, 0 for none), entries of 20 bytes from number 1 on
 * (int32 key hash, int64 physical offset, int32 seconds after the begin timestamp, int32 number of the slot's entry before).
 * 4.9: IndexFile, IndexHeader.
 */
const HEADER_BYTES = 40;
const SLOT_BYTES = 4;
const ENTRY_BYTES = 20;
/** 4.9: maxHashSlotNum, maxIndexNum. */
const SLOTS_DEFAULT = 5_000_000;
const ENTRIES_DEFAULT = 20_000_000;
/** Entries read at a time. */
const CHUNK_ENTRIES = 52_428;

const REMOVE =
  'stop the broker and remove the file: queries by key find nothing of its time then, messages are not touched';

export interface IndexCheckOptions {
  readonly files: StoreFiles;
  readonly findings: Findings;
  readonly lookup: LogLookup;
  readonly damaged: DamagedRanges;
  readonly logMin: number;
  readonly validEnd: number;
  readonly normalExit: boolean;
  /** The checkpoint's indexMsgTimestamp: after a crash only files that end before it are kept by a start. */
  readonly indexedMs: number;
  readonly slots: number | undefined;
  readonly entries: number | undefined;
  readonly onProgress: (bytes: number) => void;
}

/** How many slots and entries a file of this size has; undefined when that cannot be told. 4.9 keeps four entries to a slot. */
export function indexShape(
  bytes: number,
  slots: number | undefined,
  entries: number | undefined,
): { readonly slots: number; readonly entries: number } | undefined {
  const sizeOf = (s: number, e: number): number => HEADER_BYTES + s * SLOT_BYTES + e * ENTRY_BYTES;
  const guesses: (readonly [number, number])[] = [
    [slots ?? SLOTS_DEFAULT, entries ?? ENTRIES_DEFAULT],
    [slots ?? SLOTS_DEFAULT, (bytes - sizeOf(slots ?? SLOTS_DEFAULT, 0)) / ENTRY_BYTES],
  ];
  if (slots === undefined && entries === undefined) {
    const quarter = (bytes - HEADER_BYTES) / (SLOT_BYTES + 4 * ENTRY_BYTES);
    guesses.push([quarter, 4 * quarter]);
  }
  const fitting = guesses.find(
    ([s, e]) => Number.isInteger(s) && Number.isInteger(e) && s > 0 && e > 0 && sizeOf(s, e) === bytes,
  );
  return fitting && { slots: fitting[0], entries: fitting[1] };
}

/** Checks one file: its header, that each chain goes back entry by entry, that entries point to records with such a key. */
export function checkIndexFile(path: string, options: IndexCheckOptions): number {
  const { files, findings, normalExit } = options;
  const bytes = files.sizeOf(path);
  const shape = indexShape(bytes, options.slots, options.entries);
  if (shape === undefined) {
    findings.damage(
      path,
      bytes,
      `${bytes} bytes fit no index file`,
      `give its maxHashSlotNum and maxIndexNum, or: ${REMOVE}`,
    );
    return 0;
  }
  const file = files.open(path, 'read');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    file.read(head, 0, HEADER_BYTES, 0);
    if (!normalExit && readInt64(head, 8) > options.indexedMs) {
      findings.note(
        path,
        undefined,
        'not looked at: it ends after the checkpoint',
        'nothing: the next start builds it again',
      );
      return 0;
    }
    return new IndexWalk(path, file, head, shape.slots, shape.entries, options).run();
  } finally {
    file.close();
  }
}

class IndexWalk {
  readonly #count: number;
  /** Newest entry of each slot among those seen. */
  readonly #newest: Int32Array;
  #usedSlots = 0;
  #lastPhysical = -1;
  /** Hashes of the keys of the record that was looked at last. */
  #hashes: readonly number[] | undefined;

  constructor(
    private readonly path: string,
    private readonly file: StoreFile,
    private readonly head: Buffer,
    private readonly slots: number,
    private readonly entries: number,
    private readonly options: IndexCheckOptions,
  ) {
    this.#count = head.readInt32BE(36);
    this.#newest = new Int32Array(slots);
  }

  run(): number {
    const { head, entries } = this;
    // A file that was made and never used has no count.
    if (this.#count === 0) return 0;
    if (this.#count < 1 || this.#count > entries) {
      this.#damage(36, `its count of entries is ${this.#count}, and it has room for ${entries}`);
      return 0;
    }
    if (readInt64(head, 0) > readInt64(head, 8)) this.#damage(0, 'it ends before it begins');
    if (readInt64(head, 16) > readInt64(head, 24)) this.#damage(16, 'its last physical offset lies before its first');
    this.#walkEntries();
    this.#compareSlots();
    return this.#count - 1;
  }

  #walkEntries(): void {
    const chunk = Buffer.allocUnsafe(CHUNK_ENTRIES * ENTRY_BYTES);
    for (let number = 1; number < this.#count;) {
      const wanted = Math.min(CHUNK_ENTRIES, this.#count - number) * ENTRY_BYTES;
      const read = this.file.read(chunk, 0, wanted, this.#placeOf(number));
      if (read < wanted) return this.#damage(this.#placeOf(number) + read, 'the file ends within its entries');
      for (let at = 0; at < read; at += ENTRY_BYTES, number += 1) this.#entry(chunk, at, number);
      this.options.onProgress(read);
    }
  }

  #entry(chunk: Buffer, at: number, number: number): void {
    const hash = chunk.readInt32BE(at);
    const previous = chunk.readInt32BE(at + 16);
    if (hash < 0) return this.#damage(this.#placeOf(number), `entry ${number}: its key hash is ${hash}`);
    const slot = hash % this.slots;
    const before = this.#newest[slot] ?? 0;
    this.#newest[slot] = number;
    if (before === 0) this.#usedSlots += 1;
    if (previous >= number)
      return this.#damage(
        this.#placeOf(number) + 16,
        `entry ${number}: the one before it is said to be ${previous}: a loop in the chain of slot ${slot}`,
      );
    if (previous !== before)
      return this.#damage(
        this.#placeOf(number) + 16,
        `entry ${number}: the one before it in slot ${slot} is said to be ${previous}, and is ${before}`,
      );
    this.#checkRecord(number, hash, readInt64(chunk, at + 4));
  }

  #checkRecord(number: number, hash: number, physical: number): void {
    const { damaged, logMin, validEnd } = this.options;
    if (physical < logMin || damaged.has(physical)) return;
    const place = this.#placeOf(number);
    if (physical >= validEnd)
      return this.#damage(place + 4, `entry ${number}: it points behind the log's end, to ${physical}`);
    if (physical !== this.#lastPhysical) this.#hashes = this.#keyHashesAt(physical);
    this.#lastPhysical = physical;
    if (this.#hashes === undefined) return this.#damage(place + 4, `entry ${number}: no record begins at ${physical}`);
    if (!this.#hashes.includes(hash))
      this.#damage(place, `entry ${number}: no key of the record at ${physical} has the hash ${hash}`);
  }

  #keyHashesAt(physical: number): number[] | undefined {
    const { lookup } = this.options;
    if (!lookup.find(physical)) return undefined;
    const { topic, keysStart, keysEnd, uniqKeyStart, uniqKeyEnd } = lookup.fields;
    const keys = lookup.bytes.toString('utf8', keysStart, keysEnd).split(KEY_SEPARATOR);
    keys.push(lookup.bytes.toString('utf8', uniqKeyStart, uniqKeyEnd));
    // 4.9: IndexFile#indexKeyHashMethod; the smallest integer has no positive twin.
    return keys.map((key) => Math.abs(javaHash(`${topic}#${key}`))).map((hash) => (hash > 0x7fffffff ? 0 : hash));
  }

  #compareSlots(): void {
    const used = this.head.readInt32BE(32);
    if (used !== this.#usedSlots)
      this.#damage(32, `its header says that ${used} slots are used, and ${this.#usedSlots} are`);
    const chunk = Buffer.allocUnsafe(1024 * 1024);
    for (let slot = 0; slot < this.slots;) {
      const wanted = Math.min(chunk.length, (this.slots - slot) * SLOT_BYTES);
      const read = this.file.read(chunk, 0, wanted, HEADER_BYTES + slot * SLOT_BYTES);
      for (let at = 0; at < read; at += SLOT_BYTES, slot += 1) {
        const said = chunk.readInt32BE(at);
        const newest = this.#newest[slot] ?? 0;
        if (said === newest) continue;
        return this.#damage(
          HEADER_BYTES + slot * SLOT_BYTES,
          `slot ${slot} says that its newest entry is ${said}, and it is ${newest}`,
        );
      }
      if (read < wanted) return;
    }
  }

  #placeOf(number: number): number {
    return HEADER_BYTES + this.slots * SLOT_BYTES + number * ENTRY_BYTES;
  }

  #damage(position: number, what: string): void {
    this.options.findings.damage(this.path, position, what, REMOVE);
  }
}
