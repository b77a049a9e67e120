import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeRecord } from '../../../protocol/message/record.js';
import { recoverLog } from '../../../store/commitlog/recovery.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { nodeFiles } from '../../../store/files/node-files.js';
import { segmentName, storePaths } from '../../../store/files/paths.js';
import { checkpointTimes, copyStore, filesBelow, queueFileBytes, segmentBytes, unitBytes } from './store-folder.js';

export interface LogRecord {
  readonly physicalOffset: number;
  readonly bytes: number;
  readonly storeTimestamp: number;
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
}

/** The whole records of a store's log, in order. */
export function logRecords(storeDir: string): LogRecord[] {
  const { commitLog, temporary } = storePaths(storeDir);
  const segments = new Segments(nodeFiles, commitLog, temporary, segmentBytes);
  segments.open('read');
  const records: LogRecord[] = [];
  try {
    recoverLog({
      segments,
      fromOffset: segments.minOffset,
      checkCrc: false,
      onRecord(buffer, offset, bytes, physicalOffset) {
        const { storeTimestamp, topic, queueId, queueOffset } = decodeRecord(buffer, offset);
        records.push({ physicalOffset, bytes, storeTimestamp, topic, queueId, queueOffset });
      },
    });
  } finally {
    segments.close();
  }
  return records;
}

/** A power cut right after the last record was half written: its second half reads as zeros. */
export function tornTail(image: string, to: string): string {
  copyStore(image, to);
  const last = logRecords(to).at(-1);
  assert.ok(last);
  zeroLogFrom(to, last.physicalOffset + Math.floor(last.bytes / 2));
  return to;
}

/** A power cut that took everything for which the checkpoint does not vouch. */
export function onlyVouched(image: string, to: string): string {
  copyStore(image, to);
  const [log] = checkpointTimes(to);
  const records = logRecords(to);
  eraseUnvouched(to, records);
  const lost = records.find((record) => record.storeTimestamp > log);
  assert.ok(lost, 'the checkpoint vouches for everything: this image tells nothing');
  zeroLogFrom(to, lost.physicalOffset);
  return to;
}

/** The same, but the log was on disk already. */
export function onlyVouchedQueues(image: string, to: string): string {
  copyStore(image, to);
  eraseUnvouched(to, logRecords(to));
  return to;
}

/** Queue files go, too: after more than two of zeros 4.9 takes them for the end of the queue. */
function eraseUnvouched(storeDir: string, records: readonly LogRecord[]): void {
  const [, queues] = checkpointTimes(storeDir);
  const changed = new Map<string, Buffer>();
  for (const record of records) if (record.storeTimestamp > queues) eraseUnit(storeDir, record, changed);
  for (const [path, bytes] of changed) writeFileSync(path, bytes);
  dropBlankFiles(storePaths(storeDir).consumeQueue);
}

/** A power cut that took every unit of the queues and the checkpoint, and left the files. */
export function blankQueues(image: string, to: string): string {
  copyStore(image, to);
  const { consumeQueue, checkpoint } = storePaths(to);
  for (const [name, bytes] of filesBelow(consumeQueue))
    writeFileSync(join(consumeQueue, name), Buffer.alloc(bytes.length));
  rmSync(checkpoint);
  return to;
}

/** The last segment was made, and its size was not synced. */
export function emptySegment(image: string, to: string): string {
  copyStore(image, to);
  const { commitLog } = storePaths(to);
  const last = Math.max(...[...filesBelow(commitLog).keys()].map(Number));
  writeFileSync(join(commitLog, segmentName(last + segmentBytes)), '');
  return to;
}

/** The first file of a queue lost its second half. */
export function shortQueueFile(image: string, to: string): string {
  copyStore(image, to);
  const [record] = logRecords(to);
  assert.ok(record);
  const { consumeQueue } = storePaths(to);
  truncateSync(join(consumeQueue, record.topic, String(record.queueId), segmentName(0)), queueFileBytes / 2);
  return to;
}

/** What people do with a store that 4.9 does not recover: it builds the queues anew. */
export function withoutQueues(storeDir: string): void {
  const { commitLog, consumeQueue, checkpoint } = storePaths(storeDir);
  rmSync(consumeQueue, { recursive: true });
  rmSync(checkpoint, { force: true });
  for (const [name, bytes] of filesBelow(commitLog)) if (bytes.length === 0) rmSync(join(commitLog, name));
}

function dropBlankFiles(folder: string): void {
  for (const [name, bytes] of filesBelow(folder)) if (bytes.every((byte) => byte === 0)) rmSync(join(folder, name));
}

function zeroLogFrom(storeDir: string, offset: number): void {
  const { commitLog } = storePaths(storeDir);
  for (const [name, bytes] of filesBelow(commitLog)) {
    const base = Number(name);
    if (base + segmentBytes <= offset) continue;
    bytes.fill(0, Math.max(0, offset - base));
    writeFileSync(join(commitLog, name), bytes);
  }
}

function eraseUnit(storeDir: string, record: LogRecord, changed: Map<string, Buffer>): void {
  const at = record.queueOffset * unitBytes;
  const inFile = at % queueFileBytes;
  const { consumeQueue } = storePaths(storeDir);
  const path = join(consumeQueue, record.topic, String(record.queueId), segmentName(at - inFile));
  if (!existsSync(path)) return;
  const bytes = changed.get(path) ?? readFileSync(path);
  bytes.fill(0, inFile, inFile + unitBytes);
  changed.set(path, bytes);
}
