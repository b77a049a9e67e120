import fs from 'node:fs';
import { MemoryFiles } from '../../store/files/memory-files.js';

export interface JavaQueue {
  readonly topic: string;
  readonly queueId: number;
  readonly min: number;
  readonly max: number;
  readonly lastPhysical: number;
  readonly byTime?: Readonly<Record<string, number>>;
}

export interface JavaState {
  readonly minPhysical: number;
  readonly maxPhysical: number;
  readonly queues: readonly JavaQueue[];
}

export interface JavaStore {
  readonly segmentBytes: number;
  readonly queueFileBytes: number;
  readonly delayLevels: string;
  readonly files: Readonly<Record<string, string>>;
  readonly state: JavaState;
  readonly headless: { readonly queues: Readonly<Record<string, string>>; readonly state: JavaState };
  readonly oneFile: { readonly queueFileBytes: number; readonly state: JavaState };
}

/** A store that the code of RocketMQ 4.9.7 wrote; see test/golden/GoldenStore.java. */
export function javaStore(): JavaStore {
  const fromBuild = new URL('../../../../test/golden/store-java.json', import.meta.url);
  const fromDist = new URL('../../../test/golden/store-java.json', import.meta.url);
  const path = fs.existsSync(fromDist) ? fromDist : fromBuild;
  return JSON.parse(fs.readFileSync(path, 'utf8')) as JavaStore;
}

/** The bytes of a golden file at its full size. */
export function javaBytes(base64: string, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  Buffer.from(base64, 'base64').copy(bytes);
  return bytes;
}

/** Puts chosen files of the golden store under `/s`. */
export function javaFiles(store: JavaStore, wanted: (path: string) => boolean): MemoryFiles {
  const files = new MemoryFiles(1 << 26);
  files.makeDir('/s');
  for (const [path, base64] of Object.entries(store.files)) {
    if (!wanted(path)) continue;
    files.replace(`/s/${path}`, javaBytes(base64, sizeOf(store, path)), false);
  }
  return files;
}

/** 40 bytes, 16 slots and 64 entries; see GoldenStore.java. */
const INDEX_BYTES = 40 + 16 * 4 + 64 * 20;

function sizeOf(store: JavaStore, path: string): number {
  if (path.startsWith('commitlog/')) return store.segmentBytes;
  if (path.startsWith('consumequeue/')) return store.queueFileBytes;
  if (path.startsWith('index/')) return INDEX_BYTES;
  return path === 'checkpoint' ? 4096 : 4;
}
