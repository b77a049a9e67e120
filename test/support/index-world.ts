import { DispatchFields, readDispatch } from '../../store/dispatch/read-dispatch.js';
import type { StoreFiles } from '../../store/files/contract.js';
import { listIndexFiles } from '../../store/index/index-folder.js';
import { IndexWriter } from '../../store/index/index-writer.js';
import { indexLayout } from '../../store/index/layout.js';
import { type IndexPlace, type IndexQuery, queryIndex } from '../../store/index/query.js';
import { SharedIndex } from '../../store/index/shared-index.js';
import { readInt64 } from '../../protocol/int64.js';
import { PHYSICAL_OFFSET_AT } from '../../protocol/message/record.js';
import { golden } from '../golden/load.js';
import { testRecord } from './records.js';

export interface IndexedRecord {
  readonly offset: number;
  readonly topic?: string;
  readonly uniqKey?: string | null;
  readonly keys?: string;
  readonly storeTimestamp?: number;
  readonly sysFlag?: number;
}

/** See test/golden/capture/IndexSamples.java. */
export interface IndexGolden {
  readonly slots: number;
  readonly entries: number;
  readonly recordBytes: number;
  readonly requests: readonly Required<IndexedRecord>[];
  /** Base64, in order of their names. */
  readonly files: readonly string[];
  readonly queries: readonly {
    readonly topic: string;
    readonly key: string;
    readonly maxNum: number;
    readonly begin: string;
    readonly end: string;
    readonly offsets: readonly number[];
  }[];
}

export const indexGolden = (): IndexGolden => golden<IndexGolden>('index.json');

export const RECORD_BYTES = 1000;
const SEGMENT_BYTES = 1 << 20;

/** An index beside a log of records that are all 1000 bytes long, without any thread. */
export class IndexWorld {
  readonly place: IndexPlace;
  /** What the writer told about the checkpoint. */
  readonly vouched: string[] = [];
  wallMs = 1_700_000_000_000;
  logEnd = 0;
  logMin = 0;
  readonly #fields = new DispatchFields([]);

  constructor(
    readonly files: StoreFiles,
    slots = 16,
    entries = 40,
  ) {
    const layout = indexLayout(slots, entries);
    const memory = SharedIndex.allocate(slots);
    const dirs = { dir: '/s/index', logDir: '/s/commitlog', temporaryDir: '/s/.tmp' };
    this.place = { ...dirs, layout, memory, segmentBytes: SEGMENT_BYTES };
    for (const dir of ['/s/index', '/s/commitlog']) files.makeDir(dir);
    files.createComplete(`${dirs.logDir}/${'0'.repeat(20)}`, SEGMENT_BYTES, dirs.temporaryDir).close();
  }

  /** One more life when called again: it goes on with the memory that is shared. */
  writer(place = this.place): IndexWriter {
    return new IndexWriter({
      files: this.files,
      dir: place.dir,
      temporaryDir: place.temporaryDir,
      layout: place.layout,
      memory: place.memory,
      wallMs: () => this.wallMs,
      vouch: {
        lower: (timestamp) => void this.vouched.push(`lower ${timestamp}`),
        raise: (timestamp) => void this.vouched.push(`raise ${timestamp}`),
      },
    });
  }

  /** The same files, found by another process. */
  restarted(): IndexPlace {
    return { ...this.place, memory: SharedIndex.allocate(this.place.layout.slots) };
  }

  /** Puts the record into the log, unless it is there, and into the index. */
  add(writer: IndexWriter, record: IndexedRecord): void {
    const bytes = recordBytes(record);
    const log = this.files.open(`${this.place.logDir}/${'0'.repeat(20)}`, 'readWrite');
    log.write(bytes, 0, bytes.length, record.offset);
    log.close();
    this.logEnd = Math.max(this.logEnd, record.offset + bytes.length);
    const problem = readDispatch(bytes, 0, record.offset, this.#fields);
    if (problem !== undefined) throw new Error(problem);
    writer.add(bytes, this.#fields);
  }

  /** Physical offsets of what is found, in the log's order. */
  find(query: Partial<IndexQuery> & { readonly key: string }, place = this.place): number[] {
    const bytes = Buffer.from(queryIndex(this.files, place, this.#whole(query)).records);
    const offsets: number[] = [];
    for (let at = 0; at < bytes.length; at += bytes.readInt32BE(at))
      offsets.push(readInt64(bytes, at + PHYSICAL_OFFSET_AT));
    return offsets;
  }

  last(): { lastTimestamp: number; lastPhysical: number } {
    const { lastTimestamp, lastPhysical } = queryIndex(this.files, this.place, this.#whole({ key: 'any' }));
    return { lastTimestamp, lastPhysical };
  }

  #whole(query: Partial<IndexQuery> & { readonly key: string }): IndexQuery {
    const { logMin, logEnd } = this;
    return { topic: 'T', maxNum: 64, beginMs: 0, endMs: Number(2n ** 63n - 1n), logMin, logEnd, ...query };
  }

  names(): string[] {
    return listIndexFiles(this.files, this.place.dir);
  }

  contents(): Buffer[] {
    return this.names().map((name) => this.files.readAll(`${this.place.dir}/${name}`));
  }
}

function recordBytes({ offset, topic = 'T', uniqKey, keys = '', storeTimestamp, sysFlag = 0 }: IndexedRecord): Buffer {
  const unique = uniqKey === undefined || uniqKey === null ? '' : `UNIQ_KEY\u0001${uniqKey}\u0002`;
  const properties = `${unique}KEYS\u0001${keys}\u0002`;
  const input = { topic, physicalOffset: offset, properties, sysFlag, ...(storeTimestamp ? { storeTimestamp } : {}) };
  const bare = testRecord({ ...input, body: Buffer.alloc(0) }).length;
  return testRecord({ ...input, body: Buffer.alloc(RECORD_BYTES - bare, offset & 0xff) });
}
