import { systemClock } from '../kernel/base/clock.js';
import { ExitCode } from '../kernel/base/errors.js';
import { nodeFiles } from '../store/files/node-files.js';
import { storeHolder } from '../store/files/store-lock.js';
import { queueFileBytes } from '../store/consumequeue/unit.js';
import type { Finding, StoreSizes, VerifyReport } from '../store/verify/contract.js';
import { verifyStore } from '../store/verify/verify.js';
import type { VerifyFlags } from './commands/store.js';
import { printer } from './printer.js';
import { commandProgress } from './progress-bar.js';
import { type StorePlace, storePlace } from './store-place.js';

const STEP = 'verifying';

/** `kernel store verify`: prints what was found; exit code 1 when something is damaged. */
export async function verify(dir: string, flags: VerifyFlags): Promise<void> {
  const place = await storePlace(dir, flags);
  const holder = await storeHolder(place.paths.lock);
  if (holder !== undefined)
    printer.error(`the store is in use (${holder}): what is found may be work in progress, and is told as notes`);
  const progress = commandProgress(systemClock, process.stderr);
  let report: VerifyReport;
  try {
    report = verifyStore({
      files: nodeFiles,
      paths: place.paths,
      sizes: sizesOf(place),
      all: flags.all === true,
      nowMs: systemClock.wallMs(),
      live: holder !== undefined,
      onProgress: (done, total) => progress.report(STEP, done, total),
    });
  } finally {
    progress.end(STEP);
  }
  if (flags.json === true) printer.json({ store: place.paths.root, inUse: holder ?? false, ...report });
  else print(report);
  if (report.damaged) process.exitCode = ExitCode.failed;
}

function sizesOf(place: StorePlace): StoreSizes {
  const queueFile = place.sizeOf('mappedFileSizeConsumeQueue');
  const sizes = {
    segmentBytes: place.sizeOf('mappedFileSizeCommitLog'),
    queueFileBytes: queueFile === undefined ? undefined : queueFileBytes(queueFile),
    indexSlots: place.sizeOf('maxHashSlotNum'),
    indexEntries: place.sizeOf('maxIndexNum'),
  };
  return Object.fromEntries(Object.entries(sizes).filter(([, value]) => value !== undefined));
}

function print(report: VerifyReport): void {
  for (const finding of report.findings) printFinding(finding);
  if (report.more > 0) printer.line(`and ${report.more} more`);
  const { segments, segmentBytes, minOffset, validEnd, records, queues, units } = report;
  printer.line(
    `commit log  ${segments} files of ${segmentBytes} bytes, offsets ${minOffset} to ${validEnd}, ${records} records`,
  );
  const deleted = report.recordsWithoutQueue;
  printer.line(
    `queues      ${queues}, with ${units} units whose records are there${deleted === 0 ? '' : `; ${deleted} records of deleted topics`}`,
  );
  printer.line(`index       ${report.indexFiles} files, ${report.indexEntries} entries`);
  printer.line(`settings    ${report.configFiles} files`);
  printer.line(conclusion(report));
}

function printFinding({ kind, file, position, what, todo }: Finding): void {
  printer.line(
    `${kind === 'damage' ? 'DAMAGE' : 'note'}  ${file}${position === undefined ? '' : ` at ${position}`}: ${what}`,
  );
  printer.line(`        to do: ${todo}`);
}

function conclusion({ damaged, complete, findings }: VerifyReport): string {
  if (!damaged) return 'no damage';
  const count = findings.filter(({ kind }) => kind === 'damage').length;
  return complete ? `damaged: ${count} found` : 'damaged; it ended there, --all looks for more';
}
