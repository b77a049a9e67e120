import { join } from 'node:path';
import { KernelError } from '../../kernel/base/errors.js';
import { type Checkpoint, readCheckpoint, wasAborted } from '../checkpoint/checkpoint.js';
import { chooseRecoveryStart } from '../commitlog/recovery.js';
import { Segments } from '../commitlog/segments.js';
import type { QueueFiles } from '../consumequeue/queue-files.js';
import { lastQueuedEnd } from '../consumequeue/queue-scan.js';
import { DispatchFields, isQueued, readDispatch } from '../dispatch/read-dispatch.js';
import type { VerifyOptions, VerifyReport } from './contract.js';
import { type AuditedFile, auditRow, filesIn, sizeOfRows } from './file-audit.js';
import { Findings, FirstDamage } from './findings.js';
import { checkIndexFile } from './index-check.js';
import { checkLog, DamagedRanges, fileOf, type LogCheck } from './log-check.js';
import { LogLookup } from './log-lookup.js';
import { type LogRun, runsOf } from './log-run.js';
import { QueueCheck, REBUILT } from './queue-check.js';
import { openQueues } from './open-queues.js';
import { isIndexFileName } from '../index/file-names.js';
import { listIndexFiles } from '../index/index-folder.js';
import { checkCheckpoint, checkConfigFiles } from './small-files.js';

const MISSING_LOG = 'restore the file from a copy; a start refuses the store as it is';

/** Reads a whole store and says what is wrong with it. Changes nothing and takes no lock. */
export function verifyStore(options: VerifyOptions): VerifyReport {
  const verification = new Verification(options);
  let complete = true;
  try {
    verification.run();
  } catch (error) {
    if (!(error instanceof FirstDamage)) throw error;
    complete = false;
  } finally {
    verification.close();
  }
  return verification.report(complete);
}

class Verification {
  readonly #findings: Findings;
  readonly #normalExit: boolean;
  readonly #checkpoint: Checkpoint;
  readonly #damaged = new DamagedRanges();
  readonly #logRow: readonly AuditedFile[];
  readonly #segmentBytes: number;
  readonly #runs: readonly LogRun[];
  readonly #lookup: LogLookup;
  readonly #indexPaths: readonly string[];
  readonly #total: number;
  #queues: QueueFiles | undefined;
  #queueCount = 0;
  #check: QueueCheck | undefined;
  #log: LogCheck = { validEnd: 0, records: 0, newestMs: 0 };
  #indexEntries = 0;
  #indexDone = 0;
  #configFiles = 0;

  constructor(private readonly options: VerifyOptions) {
    const { files, paths, sizes = {} } = options;
    this.#findings = new Findings(options.all === true, options.live === true);
    this.#normalExit = !wasAborted(files, paths.abort);
    this.#checkpoint = readCheckpoint(files, paths.checkpoint);
    this.#logRow = filesIn(files, paths.commitLog).row;
    this.#segmentBytes = sizes.segmentBytes ?? sizeOfRows([this.#logRow]) ?? 0;
    this.#runs = this.#segmentBytes === 0 ? [] : runsOf(files, paths.commitLog, this.#segmentBytes, this.#logRow);
    this.#lookup = new LogLookup(this.#runs);
    this.#indexPaths = listIndexFiles(files, paths.index).map((name) => join(paths.index, name));
    const index = this.#indexPaths.reduce((sum, path) => sum + files.sizeOf(path), 0);
    this.#total = index + this.#logRow.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  run(): void {
    const { files, paths, nowMs } = this.options;
    if (!this.#normalExit && this.options.live !== true)
      this.#findings.note(paths.abort, undefined, 'the last broker did not end by itself', 'nothing');
    for (const path of filesIn(files, paths.commitLog).others)
      this.#findings.note(path, undefined, "not a segment's name", 'nothing: it is left alone');
    for (const name of files.list(paths.index))
      if (!isIndexFileName(name))
        this.#findings.note(
          join(paths.index, name),
          undefined,
          "not an index file's name",
          'nothing: it is left alone',
        );
    auditRow(paths.commitLog, this.#logRow, this.#segmentBytes, MISSING_LOG, this.#findings);
    const check = this.#openQueues();
    this.#walkLog(check);
    check.finish({
      placeOf: (at) => fileOf({ dir: paths.commitLog, segmentBytes: this.#segmentBytes }, at),
      validEnd: this.#log.validEnd,
      normalExit: this.#normalExit,
      dispatchedFrom: this.#dispatchedFrom(),
    });
    for (const path of this.#indexPaths) this.#checkIndex(path);
    checkCheckpoint(files, paths, nowMs, this.#findings);
    this.#configFiles = checkConfigFiles(files, paths, this.#findings);
  }

  report(complete: boolean): VerifyReport {
    const { list: findings, more, damaged } = this.#findings;
    return {
      findings,
      more,
      damaged,
      complete,
      normalExit: this.#normalExit,
      segmentBytes: this.#segmentBytes,
      segments: this.#logRow.length,
      minOffset: this.#logMin,
      validEnd: this.#log.validEnd,
      newestMs: this.#log.newestMs,
      records: this.#log.records,
      queues: this.#queueCount,
      units: this.#check?.units ?? 0,
      recordsWithoutQueue: this.#check?.recordsWithoutQueue ?? 0,
      indexFiles: this.#indexPaths.length,
      indexEntries: this.#indexEntries,
      configFiles: this.#configFiles,
    };
  }

  close(): void {
    for (const run of this.#runs) run.close();
    this.#queues?.close();
  }

  get #logMin(): number {
    return this.#logRow[0]?.base ?? 0;
  }

  #openQueues(): QueueCheck {
    const { files, paths, sizes = {} } = this.options;
    const { queues, rows, skipped } = openQueues(files, paths, sizes.queueFileBytes);
    for (const line of skipped) this.#findings.note(paths.consumeQueue, undefined, line, 'nothing: it is left alone');
    this.#queues = queues;
    const check = new QueueCheck({
      queues,
      findings: this.#findings,
      lookup: this.#lookup,
      damaged: this.#damaged,
      logMin: this.#logMin,
      withExtension: files.exists(paths.consumeQueueExt),
    });
    this.#check = check;
    for (const { topic, queueId, row } of rows) {
      auditRow(queues.queueDir(topic, queueId), row, queues.fileBytes, REBUILT, this.#findings);
      check.add(topic, queueId, row);
    }
    this.#queueCount = rows.length;
    return check;
  }

  #walkLog(check: QueueCheck): void {
    const { nowMs, onProgress } = this.options;
    const { physicMsgTimestamp } = this.#checkpoint;
    const fields = new DispatchFields([]);
    this.#log = checkLog({
      runs: this.#runs,
      findings: this.#findings,
      damaged: this.#damaged,
      normalExit: this.#normalExit,
      syncedMs: physicMsgTimestamp <= nowMs ? physicMsgTimestamp : 0,
      queuedEnd: () => lastQueuedEnd(this.#queues!),
      onProgress: (at) => onProgress?.(at - this.#logMin, this.#total),
      onRecord: (buffer, offset, _size, physicalOffset) => {
        const problem = readDispatch(buffer, offset, physicalOffset, fields);
        if (problem !== undefined) this.#undispatchable(physicalOffset, problem);
        else if (isQueued(fields.sysFlag)) check.record(fields);
      },
    });
    onProgress?.(this.#total - this.#indexBytes(), this.#total);
  }

  #undispatchable(physicalOffset: number, problem: string): void {
    const { file, position } = fileOf(this.#runs[0]!, physicalOffset);
    this.#findings.damage(
      file,
      position,
      `a record that no consumer can get: ${problem}`,
      'nothing helps; a start passes over it',
    );
  }

  /** After a crash the next start dispatches again from there on, as far as its files can be opened. */
  #dispatchedFrom(): number {
    const { files, paths, nowMs } = this.options;
    if (this.#normalExit || this.#segmentBytes === 0) return Number.POSITIVE_INFINITY;
    const segments = new Segments(files, paths.commitLog, paths.temporary, this.#segmentBytes);
    try {
      segments.open('read');
      return chooseRecoveryStart({ segments, normalExit: false, checkpoint: this.#checkpoint, nowMs });
    } catch (error) {
      if (error instanceof KernelError) return Number.POSITIVE_INFINITY;
      throw error;
    } finally {
      segments.close();
    }
  }

  #indexBytes(): number {
    return this.#indexPaths.reduce((sum, path) => sum + this.options.files.sizeOf(path), 0);
  }

  #checkIndex(path: string): void {
    const { files, sizes = {}, onProgress } = this.options;
    const done = this.#total - this.#indexBytes();
    this.#indexEntries += checkIndexFile(path, {
      files,
      findings: this.#findings,
      lookup: this.#lookup,
      damaged: this.#damaged,
      logMin: this.#logMin,
      validEnd: this.#log.validEnd,
      normalExit: this.#normalExit,
      indexedMs: this.#checkpoint.indexMsgTimestamp,
      slots: sizes.indexSlots,
      entries: sizes.indexEntries,
      onProgress: (bytes) => {
        this.#indexDone += bytes;
        onProgress?.(done + this.#indexDone, this.#total);
      },
    });
  }
}
