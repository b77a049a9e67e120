import assert from 'node:assert/strict';
import { recoverLog } from '../../../store/commitlog/recovery.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { DispatchFields, readDispatch } from '../../../store/dispatch/read-dispatch.js';
import type { MemoryFiles } from '../../../store/files/memory-files.js';
import { segmentName, storePaths } from '../../../store/files/paths.js';
import type { StoreSizes, VerifyReport } from '../../../store/verify/contract.js';
import { verifyStore } from '../../../store/verify/verify.js';
import { javaFiles, javaStore } from '../../support/java-store.js';

export const golden = javaStore();
export const paths = storePaths('/s');
export const SEGMENT = golden.segmentBytes;
export const NOW = 2 ** 42;
export const INDEX = `/s/${Object.keys(golden.files).find((path) => path.startsWith('index/'))}`;
export const INDEX_ENTRIES_AT = 40 + 16 * 4;

export const verify = (files: MemoryFiles, all = true, sizes: StoreSizes = {}): VerifyReport =>
  verifyStore({ files, paths, all, sizes, nowMs: NOW });

/** The golden store, with what it has no file of. */
export function java(): MemoryFiles {
  const files = javaFiles(golden, () => true);
  files.replace('/s/config/topics.json', '{"dataVersion":{"counter":1},"topicConfigTable":{1:{}}}', false);
  return files;
}

interface Place {
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly physical: number;
  readonly size: number;
  /** Positions in its segment's file. */
  readonly at: number;
  readonly file: string;
  readonly topicAt: number;
  readonly isQueued: boolean;
}

function placesIn(files: MemoryFiles): Place[] {
  const segments = new Segments(files, paths.commitLog, paths.temporary, SEGMENT);
  segments.open('read');
  const places: Place[] = [];
  recoverLog({
    segments,
    fromOffset: 0,
    checkCrc: true,
    onRecord(buffer, offset, size, physical) {
      const fields = new DispatchFields([]);
      assert.equal(readDispatch(buffer, offset, physical, fields), undefined);
      const { topic, queueId, queueOffset, bodyEnd, sysFlag } = fields;
      const at = physical % SEGMENT;
      const file = `/s/commitlog/${segmentName(physical - at)}`;
      const isQueued = (sysFlag & 12) !== 4 && (sysFlag & 12) !== 12;
      places.push({
        topic,
        queueId,
        queueOffset,
        physical,
        size,
        at,
        file,
        topicAt: at + bodyEnd - offset + 1,
        isQueued,
      });
    },
  });
  return places;
}

export const places = placesIn(java());
export const unitPlace = ({ topic, queueId, queueOffset }: Place): { file: string; position: number } => {
  const position = (queueOffset * 20) % golden.queueFileBytes;
  return { file: `/s/consumequeue/${topic}/${queueId}/${segmentName(queueOffset * 20 - position)}`, position };
};
export const victim = places.find(
  ({ topic, queueOffset, queueId }) => topic === 'GoldenTopic' && queueId === 0 && queueOffset === 5,
)!;

export function poke(files: MemoryFiles, file: string, position: number, bytes: Buffer): void {
  files.open(file, 'readWrite').write(bytes, 0, bytes.length, position);
}

export function flip(files: MemoryFiles, file: string, position: number, mask = 1): void {
  const byte = Buffer.alloc(1);
  files.open(file, 'read').read(byte, 0, 1, position);
  poke(files, file, position, Buffer.from([byte[0]! ^ mask]));
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

function allBytes(files: MemoryFiles, dir = '/s'): string[] {
  return files.list(dir).flatMap((name) => {
    const path = `${dir}/${name}`;
    const below = allBytes(files, path);
    return below.length > 0 ? below : [`${path} ${files.exists(path) ? tryRead(files, path) : ''}`];
  });
}

function tryRead(files: MemoryFiles, path: string): string {
  try {
    return files.readAll(path).toString('hex');
  } catch {
    return 'a folder';
  }
}

interface Expected {
  readonly file: string;
  readonly position?: number | undefined;
  readonly says: RegExp;
}

/** The first damage is this one, with and without --all; nothing was changed; all of it says what to do. */
export function assertFirst(
  files: MemoryFiles,
  { file, position, says }: Expected,
  sizes: StoreSizes = {},
): VerifyReport {
  const before = allBytes(files);
  const first = verify(files, false, sizes).findings.filter(({ kind }) => kind === 'damage');
  assert.equal(first.length, 1);
  assert.deepEqual([first[0]!.file, first[0]!.position], [file, position], first[0]!.what);
  assert.match(first[0]!.what, says);
  const all = verify(files, true, sizes);
  assert.deepEqual(
    all.findings.find(({ kind }) => kind === 'damage'),
    first[0],
  );
  assert.deepEqual([all.damaged, all.complete], [true, true]);
  assert.ok(all.findings.every(({ todo }) => todo !== ''));
  assert.deepEqual(allBytes(files), before);
  return all;
}

export const damages = (report: VerifyReport): string[] =>
  report.findings.filter(({ kind }) => kind === 'damage').map(({ what }) => what);
export const notes = (report: VerifyReport): string[] =>
  report.findings.filter(({ kind }) => kind === 'note').map(({ what }) => what);
