import { damagedLog, judgeEnd, placeIn, recordBehind, StoreTimes, type Verdict } from '../commitlog/damage.js';
import { type RecordVisitor, recoverLog, type RecoveredLog } from '../commitlog/recovery.js';
import { KernelError } from '../../kernel/base/errors.js';
import { segmentName } from '../files/paths.js';
import { join } from 'node:path';
import type { Findings } from './findings.js';
import type { LogRun } from './log-run.js';

const RESTORE = 'restore the file from a copy; what is unreadable there is lost otherwise';

export interface LogCheckOptions {
  readonly runs: readonly LogRun[];
  readonly findings: Findings;
  readonly normalExit: boolean;
  /** See LogEnd. */
  readonly syncedMs: number;
  readonly queuedEnd: () => number;
  readonly onRecord: RecordVisitor;
  readonly onProgress: (physicalOffset: number) => void;
  /** Filled here. */
  readonly damaged: DamagedRanges;
}

export interface LogCheck {
  /** Offset after the last record that belongs to the log. */
  readonly validEnd: number;
  readonly records: number;
  readonly newestMs: number;
}

/** Places of the log that hold no whole record, though they should; bounded, since each was found by searching for the next one. */
export class DamagedRanges {
  readonly #ranges: { readonly from: number; readonly until: number }[] = [];

  add(from: number, until: number): void {
    if (this.#ranges.length < 10_000) this.#ranges.push({ from, until });
  }

  has(physicalOffset: number): boolean {
    return this.#ranges.some(({ from, until }) => physicalOffset >= from && physicalOffset < until);
  }
}

/** Walks all records of the log, passes over what is damaged, and says where the log ends. */
export function checkLog(options: LogCheckOptions): LogCheck {
  const { runs, findings, damaged } = options;
  const times = new StoreTimes();
  let records = 0;
  let validEnd = 0;
  runs.forEach((run, index) => {
    const isLast = index === runs.length - 1;
    if (index > 0) damaged.add(runs[index - 1]!.endOffset, run.startOffset);
    for (let at: number | undefined = run.startOffset; at !== undefined && at < run.endOffset;) {
      const walk: RecoveredLog = recoverLog({
        segments: run,
        fromOffset: at,
        checkCrc: true,
        onProgress: options.onProgress,
        onRecord(buffer, offset, size, physicalOffset) {
          times.visit(buffer, offset);
          options.onRecord(buffer, offset, size, physicalOffset);
        },
      });
      records += walk.records;
      validEnd = walk.validEnd;
      if (walk.validEnd >= run.endOffset) break;
      at = isLast ? endOrNext(run, walk, times, options) : nextOf(run, walk, findings);
      if (at !== undefined || !isLast) damaged.add(walk.validEnd, at ?? run.endOffset);
    }
  });
  return { validEnd, records, newestMs: times.newestMs };
}

/** In a run that another one follows nothing may end the walk. */
function nextOf(run: LogRun, walk: RecoveredLog, findings: Findings): number | undefined {
  const next = recordBehind(run, walk.validEnd)?.position;
  report(run, walk, next ?? run.endOffset, findings);
  return next;
}

function report(run: LogRun, walk: RecoveredLog, until: number, findings: Findings): void {
  const { file, position } = fileOf(run, walk.validEnd);
  const reason = walk.firstDamage?.slice(placeIn(run, walk.validEnd).length + 2) ?? 'zeros where a record should begin';
  findings.damage(file, position, `${reason}; ${until - walk.validEnd} bytes are unreadable`, RESTORE);
}

/** At the log's end: a clean or torn one ends the walk; damage is reported, and the walk goes on behind it. */
function endOrNext(run: LogRun, walk: RecoveredLog, times: StoreTimes, options: LogCheckOptions): number | undefined {
  const { findings, damaged, normalExit, syncedMs, queuedEnd } = options;
  const { file, position } = fileOf(run, walk.validEnd);
  let verdict: Verdict;
  try {
    verdict = judgeEnd({ log: run, walk, times, normalExit, syncedMs, queuedEnd });
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    findings.damage(file, position, error.message, error.remedy ?? RESTORE);
    return undefined;
  }
  if (verdict.kind === 'clean') return undefined;
  const { following } = verdict;
  if (verdict.kind === 'damaged') {
    if (following !== undefined) report(run, walk, following.position, findings);
    else {
      damaged.add(walk.validEnd, Number.POSITIVE_INFINITY);
      findings.damage(file, position, damagedLog(run, verdict).message, RESTORE);
    }
    return following?.position;
  }
  const behind =
    following === undefined ? '' : `; whole records from offset ${following.position} on were never synced`;
  const reason = walk.firstDamage?.slice(placeIn(run, walk.validEnd).length + 2) ?? 'zeros';
  const what = `the torn end that a crash leaves: ${reason}${behind}`;
  if (following !== undefined && syncedMs === 0) {
    findings.damage(file, position, `${what}, or synced: the checkpoint does not tell`, RESTORE);
    return following.position;
  }
  findings.note(file, position, what, 'nothing: the next start cuts the log there');
  return undefined;
}

export function fileOf(
  run: Pick<LogRun, 'dir' | 'segmentBytes'>,
  physicalOffset: number,
): { readonly file: string; readonly position: number } {
  const position = physicalOffset % run.segmentBytes;
  return { file: join(run.dir, segmentName(physicalOffset - position)), position };
}
