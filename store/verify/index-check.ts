import { readInt64 } from '../../protocol/int64.js';
import { KEY_SEPARATOR } from '../../protocol/message/properties.js';
import type { StoreFile, StoreFiles } from '../files/contract.js';
import { keyTextHash, topicHash } from '../index/key-hash.js';
import {
  ENTRY_BEFORE_AT,
  ENTRY_BYTES,
  ENTRY_OFFSET_AT,
  entryAt,
  INDEX_HEADER_BYTES,
  indexLayout,
  type IndexHeader,
  type IndexLayout,
  readIndexHeader,
  SLOT_BYTES,
} from '../index/layout.js';
import type { Findings } from './findings.js';
import type { DamagedRanges } from './log-check.js';
import type { LogLookup } from './log-lookup.js';

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
): IndexLayout | undefined {
  const wanted = slots ?? SLOTS_DEFAULT;
  const guesses: (readonly [number, number])[] = [
    [wanted, entries ?? ENTRIES_DEFAULT],
    [wanted, (bytes - indexLayout(wanted, 0).fileBytes) / ENTRY_BYTES],
  ];
  if (slots === undefined && entries === undefined) {
    const quarter = (bytes - INDEX_HEADER_BYTES) / (SLOT_BYTES + 4 * ENTRY_BYTES);
    guesses.push([quarter, 4 * quarter]);
  }
  const isCount = (count: number): boolean => Number.isInteger(count) && count > 0;
  return guesses
    .filter(([s, e]) => isCount(s) && isCount(e))
    .map(([s, e]) => indexLayout(s, e))
    .find(({ fileBytes }) => fileBytes === bytes);
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
    const head = Buffer.alloc(INDEX_HEADER_BYTES);
    file.read(head, 0, head.length, 0);
    // The count as it stands there: 4.9 takes a negative one for none.
    const header = { ...readIndexHeader(head), next: head.readInt32BE(36) };
    if (!normalExit && header.endTimestamp > options.indexedMs) {
      findings.note(
        path,
        undefined,
        'not looked at: it ends after the checkpoint',
        'nothing: the next start builds it again',
      );
      return 0;
    }
    return new IndexWalk(path, file, header, shape, options).run();
  } finally {
    file.close();
  }
}

class IndexWalk {
  /** Newest entry of each slot among those seen. */
  readonly #newest: Int32Array;
  #usedSlots = 0;
  #lastPhysical = -1;
  /** Hashes of the keys of the record that was looked at last. */
  #hashes: readonly number[] | undefined;

  constructor(
    private readonly path: string,
    private readonly file: StoreFile,
    private readonly header: IndexHeader,
    private readonly layout: IndexLayout,
    private readonly options: IndexCheckOptions,
  ) {
    this.#newest = new Int32Array(layout.slots);
  }

  run(): number {
    const { next, beginTimestamp, endTimestamp, beginPhysical, endPhysical } = this.header;
    const { entries } = this.layout;
    // A file that was made and never used has no count.
    if (next === 0) return 0;
    if (next < 0 || next > entries) {
      this.#damage(36, `its count of entries is ${next}, and it has room for ${entries}`);
      return 0;
    }
    if (beginTimestamp > endTimestamp) this.#damage(0, 'it ends before it begins');
    if (beginPhysical > endPhysical) this.#damage(16, 'its last physical offset lies before its first');
    this.#walkEntries();
    this.#compareSlots();
    return next - 1;
  }

  #walkEntries(): void {
    const chunk = Buffer.allocUnsafe(CHUNK_ENTRIES * ENTRY_BYTES);
    for (let number = 1; number < this.header.next;) {
      const wanted = Math.min(CHUNK_ENTRIES, this.header.next - number) * ENTRY_BYTES;
      const read = this.file.read(chunk, 0, wanted, this.#placeOf(number));
      if (read < wanted) return this.#damage(this.#placeOf(number) + read, 'the file ends within its entries');
      for (let at = 0; at < read; at += ENTRY_BYTES, number += 1) this.#entry(chunk, at, number);
      this.options.onProgress(read);
    }
  }

  #entry(chunk: Buffer, at: number, number: number): void {
    const hash = chunk.readInt32BE(at);
    const previous = chunk.readInt32BE(at + ENTRY_BEFORE_AT);
    if (hash < 0) return this.#damage(this.#placeOf(number), `entry ${number}: its key hash is ${hash}`);
    const slot = hash % this.layout.slots;
    const before = this.#newest[slot] ?? 0;
    this.#newest[slot] = number;
    if (before === 0) this.#usedSlots += 1;
    if (previous >= number)
      return this.#damage(
        this.#placeOf(number) + ENTRY_BEFORE_AT,
        `entry ${number}: the one before it is said to be ${previous}: a loop in the chain of slot ${slot}`,
      );
    if (previous !== before)
      return this.#damage(
        this.#placeOf(number) + ENTRY_BEFORE_AT,
        `entry ${number}: the one before it in slot ${slot} is said to be ${previous}, and is ${before}`,
      );
    this.#checkRecord(number, hash, readInt64(chunk, at + ENTRY_OFFSET_AT));
  }

  #checkRecord(number: number, hash: number, physical: number): void {
    const { damaged, logMin, validEnd } = this.options;
    if (physical < logMin || damaged.has(physical)) return;
    const place = this.#placeOf(number);
    if (physical >= validEnd)
      return this.#damage(place + ENTRY_OFFSET_AT, `entry ${number}: it points behind the log's end, to ${physical}`);
    if (physical !== this.#lastPhysical) this.#hashes = this.#keyHashesAt(physical);
    this.#lastPhysical = physical;
    if (this.#hashes === undefined)
      return this.#damage(place + ENTRY_OFFSET_AT, `entry ${number}: no record begins at ${physical}`);
    if (!this.#hashes.includes(hash))
      this.#damage(place, `entry ${number}: no key of the record at ${physical} has the hash ${hash}`);
  }

  #keyHashesAt(physical: number): number[] | undefined {
    const { lookup } = this.options;
    if (!lookup.find(physical)) return undefined;
    const { topic, keysStart, keysEnd, uniqKeyStart, uniqKeyEnd } = lookup.fields;
    const keys = lookup.bytes.toString('utf8', keysStart, keysEnd).split(KEY_SEPARATOR);
    keys.push(lookup.bytes.toString('utf8', uniqKeyStart, uniqKeyEnd));
    const ofTopic = topicHash(topic);
    return keys.map((key) => keyTextHash(ofTopic, key));
  }

  #compareSlots(): void {
    const { slotsUsed: used } = this.header;
    const { slots } = this.layout;
    if (used !== this.#usedSlots)
      this.#damage(32, `its header says that ${used} slots are used, and ${this.#usedSlots} are`);
    const chunk = Buffer.allocUnsafe(1024 * 1024);
    for (let slot = 0; slot < slots;) {
      const wanted = Math.min(chunk.length, (slots - slot) * SLOT_BYTES);
      const read = this.file.read(chunk, 0, wanted, INDEX_HEADER_BYTES + slot * SLOT_BYTES);
      for (let at = 0; at < read; at += SLOT_BYTES, slot += 1) {
        const said = chunk.readInt32BE(at);
        const newest = this.#newest[slot] ?? 0;
        if (said === newest) continue;
        return this.#damage(
          INDEX_HEADER_BYTES + slot * SLOT_BYTES,
          `slot ${slot} says that its newest entry is ${said}, and it is ${newest}`,
        );
      }
      if (read < wanted) return;
    }
  }

  #placeOf(number: number): number {
    return entryAt(this.layout, number);
  }

  #damage(position: number, what: string): void {
    this.options.findings.damage(this.path, position, what, REMOVE);
  }
}
