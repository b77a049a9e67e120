import type { LogBytes } from '../commitlog/recovery.js';
import type { StoreFile, StoreFiles } from '../files/contract.js';
import type { AuditedFile } from './file-audit.js';

/** Files of the commit log that follow each other without a gap, each but the last at full size. Opens one at a time. */
export class LogRun implements LogBytes {
  readonly startOffset: number;
  readonly endOffset: number;
  #open: { readonly base: number; readonly file: StoreFile } | undefined;

  constructor(
    private readonly files: StoreFiles,
    readonly dir: string,
    readonly segmentBytes: number,
    private readonly row: readonly AuditedFile[],
  ) {
    const last = row[row.length - 1]!;
    this.startOffset = row[0]!.base;
    this.endOffset = last.base + Math.min(last.bytes, segmentBytes);
  }

  read(target: Uint8Array, targetOffset: number, length: number, physicalOffset: number): number {
    let done = 0;
    while (done < length) {
      const at = physicalOffset + done;
      const file = this.row[Math.floor((at - this.startOffset) / this.segmentBytes)];
      if (file === undefined || at >= this.endOffset) break;
      const wanted = Math.min(length - done, file.base + this.segmentBytes - at);
      const got = this.#fileOf(file).read(target, targetOffset + done, wanted, at - file.base);
      done += got;
      if (got < wanted) break;
    }
    return done;
  }

  close(): void {
    this.#open?.file.close();
    this.#open = undefined;
  }

  #fileOf({ base, path }: AuditedFile): StoreFile {
    if (this.#open?.base === base) return this.#open.file;
    this.close();
    const file = this.files.open(path, 'read');
    this.#open = { base, file };
    return file;
  }
}

/** The runs that a row of files makes: a missing or short file ends one. Files in a wrong place are left out. */
export function runsOf(files: StoreFiles, dir: string, segmentBytes: number, row: readonly AuditedFile[]): LogRun[] {
  const runs: AuditedFile[][] = [];
  for (const file of row) {
    if (file.bytes === 0 || file.base % segmentBytes !== 0) continue;
    const run = runs[runs.length - 1];
    const before = run?.[run.length - 1];
    const follows = before !== undefined && before.base + segmentBytes === file.base && before.bytes >= segmentBytes;
    if (follows) run!.push(file);
    else runs.push([file]);
  }
  return runs.map((run) => new LogRun(files, dir, segmentBytes, run));
}
