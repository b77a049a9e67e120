import { join } from 'node:path';
import type { StoreFiles } from '../files/contract.js';
import { parseSegmentName, segmentName } from '../files/paths.js';
import type { Findings } from './findings.js';

/** One file of a row of files that follow each other. */
export interface AuditedFile {
  readonly base: number;
  readonly path: string;
  /** What it has; its row's size, as a rule. */
  readonly bytes: number;
}

/** Names and sizes of the files in a folder of segments (commit log or one queue), as they are. */
export function filesIn(files: StoreFiles, dir: string): { readonly row: AuditedFile[]; readonly others: string[] } {
  const row: AuditedFile[] = [];
  const others: string[] = [];
  for (const name of files.list(dir)) {
    const base = parseSegmentName(name);
    const path = join(dir, name);
    if (base < 0) others.push(path);
    else row.push({ base, path, bytes: files.sizeOf(path) });
  }
  return { row, others };
}

/**
 * The size of the files of rows: what most of them have, if their names are multiples of it, else the smallest step between two
 * names; undefined when there is none.
 */
export function sizeOfRows(rows: readonly (readonly AuditedFile[])[]): number | undefined {
  let step = Number.POSITIVE_INFINITY;
  const bySize = new Map<number, number>();
  for (const row of rows)
    row.forEach(({ base, bytes }, index) => {
      const before = row[index - 1];
      if (before !== undefined) step = Math.min(step, base - before.base);
      if (bytes > 0) bySize.set(bytes, (bySize.get(bytes) ?? 0) + 1);
    });
  const sizes = [...bySize].sort((a, b) => b[1] - a[1]).map(([size]) => size);
  const fitting = sizes.find((size) => rows.every((row) => row.every(({ base }) => base % size === 0)));
  return fitting ?? (Number.isFinite(step) ? step : sizes[0]);
}

/** Reports files of another size, misplaced names, and files that are missing between two others. */
export function auditRow(
  dir: string,
  row: readonly AuditedFile[],
  fileBytes: number,
  todo: string,
  findings: Findings,
): void {
  let expected = row[0]?.base ?? 0;
  row.forEach(({ base, path, bytes }, index) => {
    if (base > expected && base % fileBytes === 0)
      findings.damage(join(dir, segmentName(expected)), undefined, `missing, up to ${segmentName(base)}`, todo);
    if (base % fileBytes !== 0) findings.damage(path, undefined, `its name is no multiple of ${fileBytes}`, todo);
    if (bytes === 0 && index === row.length - 1)
      findings.note(path, 0, 'an empty last file, left by a crash', 'nothing: the next start removes it');
    else if (bytes !== fileBytes) findings.damage(path, bytes, `it has ${bytes} bytes instead of ${fileBytes}`, todo);
    expected = base + fileBytes;
  });
}
