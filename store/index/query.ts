import { join } from 'node:path';
import { KernelError, systemCodeOf } from '../../kernel/base/errors.js';
import { Segments } from '../commitlog/segments.js';
import { DispatchFields, readDispatch } from '../dispatch/read-dispatch.js';
import type { StoreFiles } from '../files/contract.js';
import { EntryReader } from './entry-reader.js';
import { listIndexFiles, readHeaderOf } from './index-folder.js';
import { keyTextHash, topicHash } from './key-hash.js';
import { type IndexHeader, type IndexLayout, SECONDS_MAX } from './layout.js';
import { type IndexMemory, type IndexState, SharedIndex } from './shared-index.js';
import { Slots } from './slots.js';

/** Where index and log lie. Plain data, so that a task on another thread can be given it. */
export interface IndexPlace {
  readonly dir: string;
  readonly layout: IndexLayout;
  readonly memory: IndexMemory;
  readonly logDir: string;
  readonly temporaryDir: string;
  readonly segmentBytes: number;
}

export interface IndexQuery {
  readonly topic: string;
  /** A unique key or one of KEYS. */
  readonly key: string;
  /** So many messages at most, the newest. */
  readonly maxNum: number;
  /** Store times, ms, both included. */
  readonly beginMs: number;
  readonly endMs: number;
  /** First offset that the log still has, and its end. */
  readonly logMin: number;
  readonly logEnd: number;
  /** How long to wait for entries that are being written, ms; 2000 when missing. */
  readonly patienceMs?: number;
}

export interface IndexAnswer {
  /** Whole records one behind the other, in the log's order. */
  readonly records: Uint8Array;
  /** Of the last record in the index; 0 when it has none. */
  readonly lastTimestamp: number;
  readonly lastPhysical: number;
}

/** An answer must fit a frame (4.9: NettyDecoder takes 16 MiB), with its header. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024 - 64 * 1024;
/** A clock that steps further than from one time zone or day to the next makes messages unfindable by time. */
const CLOCK_STEP_MAX_MS = 25 * 3_600_000;
/** Entries looked at, and records read, by one query. */
const ENTRIES_MAX = 20_000_000;
const RECORDS_MAX = 100_000;
const FIRST_READ_BYTES = 4096;
const PATIENCE_MS = 2000;
const WAIT_MS = 50;

/**
 * The newest messages with a key, by their real store times: entries tell whole seconds only, and less when the clock was set back
 * (B29). Key and topic are compared, too, since other keys have the same hash. Blocks the calling thread. Throws INDEX_BUSY when the
 * thread that writes stands still, QUERY_TOO_WIDE when nothing was found among as many entries as one query may look at.
 * 4.9: IndexService#queryOffset
 */
export function queryIndex(files: StoreFiles, place: IndexPlace, query: IndexQuery): IndexAnswer {
  const search = new Search(files, place, query);
  try {
    return search.run();
  } finally {
    search.close();
  }
}

class Search {
  readonly #hash: number;
  readonly #segments: Segments;
  readonly #fields = new DispatchFields([]);
  readonly #found: Buffer[] = [];
  #bytes = 0;
  #entriesLeft = ENTRIES_MAX;
  #recordsLeft = RECORDS_MAX;
  /** Physical offset of the candidate before: entries of one record follow each other. */
  #before = -1;
  /** Nothing further back can be found, or fits in. */
  #over = false;

  constructor(
    private readonly files: StoreFiles,
    private readonly place: IndexPlace,
    private readonly query: IndexQuery,
  ) {
    this.#hash = keyTextHash(topicHash(query.topic), query.key);
    this.#segments = new Segments(files, place.logDir, place.temporaryDir, place.segmentBytes);
  }

  run(): IndexAnswer {
    const { files, place, query } = this;
    const active = this.#active();
    const { name, header } = active.state;
    if (query.maxNum > 0) {
      const names = listIndexFiles(files, place.dir).filter((each) => name === undefined || each <= name);
      for (let at = names.length - 1; at >= 0 && !this.#over; at--) this.#file(names[at] ?? '', active);
    }
    if (this.#found.length === 0 && (this.#entriesLeft <= 0 || this.#recordsLeft <= 0))
      throw new KernelError('QUERY_TOO_WIDE', `${query.topic} has too many messages whose keys are like ${query.key}`, {
        remedy: 'ask for a shorter time',
      });
    const records = Buffer.concat(this.#found.reverse());
    return { records, lastTimestamp: header.endTimestamp, lastPhysical: header.endPhysical };
  }

  close(): void {
    this.#segments.close();
  }

  /** State of the active file with the newest entry of the key's slot; all that this entry leads to is in the file. */
  #active(): { state: IndexState; newest: number } {
    const shared = new SharedIndex(this.place.memory.state);
    const slots = new Slots(this.place.memory.slots);
    const slot = this.#hash % this.place.layout.slots;
    const { patienceMs = PATIENCE_MS } = this.query;
    for (let waited = 0; waited <= patienceMs; waited += WAIT_MS) {
      const { sequence } = shared;
      const state = shared.read();
      const newest = state.name === undefined ? 0 : slots.get(slot);
      if (shared.sequence !== sequence) continue;
      if (newest < state.header.next || state.name === undefined) return { state, newest };
      shared.waitChange(sequence, WAIT_MS);
    }
    throw new KernelError('INDEX_BUSY', 'the index is being written and does not come to an end', {
      remedy: 'ask again; the log tells when its disk is slow or full',
    });
  }

  #file(name: string, active: { state: IndexState; newest: number }): void {
    const path = join(this.place.dir, name);
    try {
      const isActive = name === active.state.name;
      const header = isActive ? active.state.header : readHeaderOf(this.files, path);
      if (!this.#mayHold(header)) return;
      const reader = new EntryReader(this.files.open(path, 'read'), this.place.layout);
      try {
        this.#chain(reader, header, isActive ? active.newest : reader.slot(this.#hash % this.place.layout.slots));
      } finally {
        reader.close();
      }
    } catch (error) {
      // Removed meanwhile: its messages are gone, too.
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    }
  }

  #mayHold({ beginTimestamp, endTimestamp }: IndexHeader): boolean {
    const from = Math.min(beginTimestamp, endTimestamp) - CLOCK_STEP_MAX_MS;
    const to = Math.max(beginTimestamp, endTimestamp) + CLOCK_STEP_MAX_MS;
    return this.query.beginMs <= to && this.query.endMs >= from;
  }

  /** From a slot's newest entry back; each one leads to an older one. */
  #chain(reader: EntryReader, header: IndexHeader, newest: number): void {
    let number = newest;
    while (number > 0 && number < header.next && !this.#over) {
      if (--this.#entriesLeft <= 0) this.#over = true;
      reader.read(number);
      if (reader.hash === this.#hash && this.#mayBeThen(reader.seconds, number, header)) this.#take(reader.physical);
      number = reader.before < number ? reader.before : 0;
    }
  }

  /** Entries whose seconds tell nothing: of the file's first one, those before its time, those beyond the largest number. */
  #mayBeThen(seconds: number, number: number, { beginTimestamp }: IndexHeader): boolean {
    if (seconds <= 0 || seconds === SECONDS_MAX || number === 1) return true;
    const from = beginTimestamp + seconds * 1000;
    return from <= this.query.endMs && from + 999 >= this.query.beginMs;
  }

  #take(physical: number): void {
    if (physical === this.#before || this.#over) return;
    this.#before = physical;
    if (physical < this.query.logMin || this.#recordsLeft-- <= 0) {
      this.#over = true;
      return;
    }
    const record = this.#record(physical);
    if (record === undefined || !this.#isWanted(record)) return;
    this.#over = this.#bytes + record.length > ANSWER_BYTES_MAX && this.#found.length > 0;
    if (this.#over) return;
    this.#found.push(record);
    this.#bytes += record.length;
    this.#over = this.#found.length >= this.query.maxNum;
  }

  #record(physical: number): Buffer | undefined {
    let bytes = this.#read(physical, FIRST_READ_BYTES);
    if (bytes.length >= 4 && bytes.readInt32BE(0) > bytes.length) {
      const size = bytes.readInt32BE(0);
      if (size > this.query.logEnd - physical || size > this.place.segmentBytes) return undefined;
      bytes = this.#read(physical, size);
    }
    if (readDispatch(bytes, 0, physical, this.#fields) !== undefined) return undefined;
    return bytes.subarray(0, this.#fields.size);
  }

  #read(physical: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.query.logEnd - physical));
    const bytes = Buffer.allocUnsafe(wanted);
    return bytes.subarray(0, this.#segments.read(bytes, 0, wanted, physical));
  }

  #isWanted(record: Buffer): boolean {
    const { storeTimestamp, topic, uniqKeyStart, uniqKeyEnd, keysStart, keysEnd } = this.#fields;
    const { query } = this;
    if (topic !== query.topic || storeTimestamp < query.beginMs || storeTimestamp > query.endMs) return false;
    if (uniqKeyEnd > 0 && record.toString('utf8', uniqKeyStart, uniqKeyEnd) === query.key) return true;
    return keysEnd > 0 && record.toString('utf8', keysStart, keysEnd).split(' ').includes(query.key);
  }
}
