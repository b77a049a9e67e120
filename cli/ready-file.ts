import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ExitCode, KernelError, messageOf } from '../kernel/base/errors.js';

/** Where the servers of this process are reached; what does not listen is missing. */
export interface Addresses {
  readonly namesrv?: string;
  readonly broker?: string;
}

/** Appears complete or not at all. Throws KernelError naming the file. */
export function writeReadyFile(path: string, addresses: Addresses): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, `${JSON.stringify({ pid: process.pid, ...addresses })}\n`);
    renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw new KernelError('READY_FILE', `the ready file ${path} cannot be written: ${messageOf(error)}`, {
      cause: error,
      exitCode: ExitCode.failed,
      remedy: 'choose another path with --ready-file',
    });
  }
}

/** Removes it unless another process has written its own since. */
export function removeReadyFile(path: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(path, 'utf8')) as { pid?: unknown };
    if (pid === process.pid) rmSync(path);
  } catch {
    // Gone already, or somebody else's.
  }
}

function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A path through something that is no folder: nothing can be there.
  }
}
