import { QueueWord } from '../../../kernel/ring/queue-table.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { readInt64 } from '../../../protocol/int64.js';
import { QUEUE_OFFSET_AT } from '../../../protocol/message/record.js';
import { recoverLog } from '../../../store/commitlog/recovery.js';
import { Segments } from '../../../store/commitlog/segments.js';
import { UNIT_BYTES, unitPhysicalOffset, unitSize } from '../../../store/consumequeue/unit.js';
import { storePaths } from '../../../store/files/paths.js';
import { compareWithFreshBuild } from '../fresh-build.js';
import type { LossyFiles } from '../lossy-files.js';
import { STORE, THOROUGH_MS, type BrokerLife } from './broker-life.js';
import type { Entry, LifeLedger } from './life-ledger.js';

/** How the life before ended. */
export type Ending = 'power cut' | 'kill' | 'stop';

const paths = storePaths(STORE);
const SEGMENT_BYTES = 8192;
const SIZES = { segmentBytes: SEGMENT_BYTES, queueFileBytes: 400 };
/** The flush service gets its turns so often, at least. */
const TURN_MS = 100;

export interface Found {
  readonly entry: Entry;
  readonly physicalOffset: number;
  readonly queueOffset: number;
  readonly size: number;
}

/**
 * Compares a store that was just recovered with the ledger, then brings the ledger to what the store holds: what a cut could take and
 * took is gone, what was found stays from now on. Throws an Error that begins with the broken promise.
 */
export function checkRecovered(
  life: BrokerLife,
  files: LossyFiles,
  ledger: LifeLedger,
  endings: readonly Ending[],
  nowMonoMs: number,
  sync: boolean,
): void {
  const validEnd = life.mark(Watermark.appended);
  const found = walk(files, ledger, validEnd);
  checkOrder(found);
  checkLost(found, ledger, validEnd, endings.includes('power cut'), nowMonoMs, sync);
  checkQueueOffsets(found, ledger);
  checkBehind(files, validEnd);
  checkQueues(life, found, ledger);
  checkRebuild(files, ledger);
  adopt(found, ledger, validEnd);
}

/** Every record of the log, which must be one that was sent and may be there. */
export function walk(files: LossyFiles, ledger: LifeLedger, validEnd: number): Found[] {
  const found: Found[] = [];
  const segments = new Segments(files, paths.commitLog, paths.temporary, SEGMENT_BYTES);
  segments.open('read');
  const walked = recoverLog({
    segments,
    fromOffset: segments.minOffset,
    checkCrc: true,
    onRecord(buffer, offset, size, physicalOffset) {
      const record = buffer.subarray(offset, offset + size);
      const entry = ledger.find(record);
      if (entry === undefined) throw new Error(`invented: what stands at ${physicalOffset} was never sent`);
      if (entry.outcome === 'refused' || entry.outcome === 'gone')
        throw new Error(`invented: record ${entry.id} at ${physicalOffset} was ${entry.outcome}`);
      if (entry.physicalOffset >= 0 && entry.physicalOffset !== physicalOffset)
        throw new Error(`moved: record ${entry.id} was stored at ${entry.physicalOffset}, now at ${physicalOffset}`);
      const queueOffset = readInt64(record, QUEUE_OFFSET_AT);
      if (entry.physicalOffset >= 0 && entry.queueOffset !== queueOffset)
        throw new Error(`renumbered: record ${entry.id} had queue offset ${entry.queueOffset}, now ${queueOffset}`);
      found.push({ entry, physicalOffset, queueOffset, size });
    },
  });
  if (walked.validEnd !== validEnd)
    throw new Error(`the recovered end is ${validEnd}, but the log ends at ${walked.validEnd}`);
  segments.close();
  return found;
}

function checkOrder(found: readonly Found[]): void {
  for (let index = 1; index < found.length; index++) {
    const [before, after] = [found[index - 1]!.entry.id, found[index]!.entry.id];
    if (before >= after) throw new Error(`disorder: record ${after} stands behind ${before}`);
  }
}

function checkLost(
  found: readonly Found[],
  ledger: LifeLedger,
  validEnd: number,
  cut: boolean,
  nowMonoMs: number,
  sync: boolean,
): void {
  const ids = new Set(found.map(({ entry }) => entry.id));
  if (validEnd < ledger.durableEnd)
    throw new Error(`lost: the log ends at ${validEnd}, but ${ledger.durableEnd} bytes were synced`);
  for (const entry of ledger.entries) {
    if (ids.has(entry.id) || entry.outcome === 'gone' || entry.outcome === 'refused') continue;
    const what = `record ${entry.id} (${entry.outcome}) at ${entry.physicalOffset}`;
    if (entry.physicalOffset >= 0 && entry.physicalOffset < validEnd) throw new Error(`hole: ${what} is missing`);
    if (entry.outcome === 'kept') throw new Error(`lost: ${what} had been recovered before`);
    if (entry.outcome !== 'acked') continue;
    if (!cut) throw new Error(`lost: ${what}, and the machine did not even go off`);
    if (sync && entry.waitStore) throw new Error(`lost: ${what} under SYNC_FLUSH`);
    const ageMs = (ledger.failed?.monoMs ?? nowMonoMs) - entry.ackedMonoMs;
    if (ageMs > THOROUGH_MS + TURN_MS) throw new Error(`lost: ${what}, acknowledged ${ageMs} ms before the cut`);
  }
  if (!sync) return;
  for (const [place, id] of ledger.seen)
    if (!ids.has(id)) throw new Error(`a consumer was shown record ${id} at ${place}, which a power cut took`);
}

/** Each queue counts from 0 without a hole; it begins again only where its topic was deleted. */
function checkQueueOffsets(found: readonly Found[], ledger: LifeLedger): void {
  const last = new Map<string, Found>();
  for (const record of found) {
    const { entry, queueOffset, physicalOffset } = record;
    if (!entry.queued) continue;
    const queue = `${entry.topic}/${entry.queueId}`;
    const before = last.get(queue);
    last.set(queue, record);
    const follows = queueOffset === (before === undefined ? 0 : before.queueOffset + 1);
    const since = before?.physicalOffset ?? -1;
    if (follows || (queueOffset === 0 && wasDeleted(ledger, entry.topic, since, physicalOffset))) continue;
    throw new Error(`${queue}: offset ${queueOffset} follows ${before?.queueOffset ?? 'nothing'}`);
  }
}

/** Between a record and the next one, both by physical offset. */
function wasDeleted({ deletions }: LifeLedger, topic: string, from: number, to: number): boolean {
  return deletions.some(
    (deletion) => deletion.topic === topic && deletion.physicalOffset > from && deletion.physicalOffset <= to,
  );
}

function checkBehind(files: LossyFiles, validEnd: number): void {
  const base = validEnd - (validEnd % SEGMENT_BYTES);
  const names = files.list(paths.commitLog);
  if (names.some((name) => Number(name) > validEnd)) throw new Error(`a segment stands behind the end ${validEnd}`);
  const name = names.find((one) => Number(one) === base);
  const rest = name === undefined ? Buffer.alloc(0) : files.readAll(`${paths.commitLog}/${name}`);
  if (rest.subarray(validEnd - base).some((byte) => byte !== 0)) throw new Error(`stale bytes behind ${validEnd}`);
  const left = files.list(paths.temporary);
  if (left.length > 0) throw new Error(`left in the temporary folder: ${left.join(', ')}`);
}

/** What consumers are shown is the log's records of the queue, all of them, in order. */
function checkQueues(life: BrokerLife, found: readonly Found[], ledger: LifeLedger): void {
  for (const [queue, records] of byQueue(found)) {
    const { topic, queueId } = records[0]!.entry;
    const generation = records.slice(records.findLastIndex(({ queueOffset }) => queueOffset === 0));
    const last = generation.at(-1)!;
    const row = life.store.queueTable.find(topic, queueId);
    // Its records may come back or not; what is there must fit all the same.
    const first = firstThatStays(generation, ledger);
    const deleted = wasDeleted(ledger, topic, last.physicalOffset, Infinity);
    if (row < 0 && deleted) continue;
    const [min, max] = [life.queues.minOffset(topic, queueId), life.queues.maxOffset(topic, queueId)];
    if (!deleted && (min > first || max !== last.queueOffset + 1))
      throw new Error(`${queue} is visible from ${min} to ${max}, the log has ${first} to ${last.queueOffset + 1}`);
    const next = life.store.queueTable.get(row, QueueWord.next);
    if (next !== max) throw new Error(`${queue}: ${max} records are visible, the next one gets ${next}`);
    for (let offset = min; offset < max; offset++) {
      const unit = life.queues.entries(topic, queueId, offset, 1);
      const record = generation[offset];
      if (record === undefined || unit.length !== UNIT_BYTES) throw new Error(`${queue}/${offset} is not there`);
      // Marked as blank, perhaps when the power went.
      if ((deleted || offset < first) && unitPhysicalOffset(unit, 0) === 0) continue;
      if (unitPhysicalOffset(unit, 0) !== record.physicalOffset || unitSize(unit, 0) !== record.size)
        throw new Error(`${queue}/${offset} points to ${unitPhysicalOffset(unit, 0)}, not ${record.physicalOffset}`);
    }
  }
}

/** Queue offset of the first record that no deletion gave free: records before one may have come back, and the queue gone on. */
function firstThatStays(generation: readonly Found[], ledger: LifeLedger): number {
  const first = generation.findLastIndex(
    (record, index) =>
      index > 0 && wasDeleted(ledger, record.entry.topic, generation[index - 1]!.physicalOffset, record.physicalOffset),
  );
  return Math.max(0, first);
}

export function byQueue(found: readonly Found[]): Map<string, Found[]> {
  const queues = new Map<string, Found[]>();
  for (const record of found) {
    if (!record.entry.queued) continue;
    const queue = `${record.entry.topic}/${record.entry.queueId}`;
    const records = queues.get(queue);
    if (records === undefined) queues.set(queue, [record]);
    else records.push(record);
  }
  return queues;
}

/** Deleted topics have no queues to compare. */
export function checkRebuild(files: LossyFiles, ledger: LifeLedger): void {
  compareWithFreshBuild(files, paths, SIZES, new Set(ledger.deletions.map(({ topic }) => topic)));
}

/** What the store holds is what there is. */
function adopt(found: readonly Found[], ledger: LifeLedger, validEnd: number): void {
  const kept = new Map(found.map((record) => [record.entry.id, record]));
  for (const entry of ledger.entries) {
    const record = kept.get(entry.id);
    if (record === undefined) {
      if (entry.outcome !== 'refused') entry.outcome = 'gone';
      continue;
    }
    entry.outcome = 'kept';
    entry.physicalOffset = record.physicalOffset;
    entry.queueOffset = record.queueOffset;
  }
  ledger.durableEnd = validEnd;
  ledger.failed = undefined;
  ledger.seen.clear();
}

/** The files under `config/`, before a start: each holds a content that was handed over, and none older than the last written one. */
export function checkFiles(files: LossyFiles, ledger: LifeLedger): void {
  for (const [path, history] of ledger.files) {
    const { contents, completed } = history;
    const exists = files.exists(path);
    if (!exists && completed >= 0) throw new Error(`${path} is gone, though it was written`);
    if (!exists) continue;
    const text = files.readAll(path).toString();
    const index = contents.lastIndexOf(text);
    if (index < 0) throw new Error(`${path} holds ${text.length} bytes that nobody wrote`);
    if (index < completed) throw new Error(`${path} holds state ${index}; state ${completed} was written`);
    history.completed = index;
    if (files.exists(`${path}.bak`) && !contents.includes(files.readAll(`${path}.bak`).toString()))
      throw new Error(`${path}.bak holds what nobody wrote`);
  }
}

/** After a start: a topic whose creation was acknowledged exists, one whose deletion was does not. */
export function checkTopics(life: BrokerLife, ledger: LifeLedger): void {
  for (const [topic, exists] of ledger.topics) {
    if ((life.topics.get(topic) !== undefined) !== exists)
      throw new Error(`topic ${topic}: ${exists ? 'created and gone' : 'deleted and back'}`);
  }
}
