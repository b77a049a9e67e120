import fs from 'node:fs';
import workers from 'node:worker_threads';

/**
 * Comes into every thread of a broker by `--import` and makes calls on files of the commit log fail or wait, as the file that
 * DISK_FAULTS names says; see disk-faults.ts, which writes it.
 */
const rulePath = process.env['DISK_FAULTS']!;
const never = new Int32Array(new SharedArrayBuffer(4));
const { fdatasyncSync, writeSync } = fs;

const rule = (): string => fs.readFileSync(rulePath, 'utf8');

/** With the thread that met it; a worker's name is in what it was started with. */
function note(what: string): void {
  const thread = workers.isMainThread ? 'main' : (workers.workerData as { name: string }).name;
  fs.appendFileSync(`${rulePath}.notes`, `${what} on ${thread}\n`);
}

/** Of a segment of the commit log, or undefined. */
function segmentOf(descriptor: number): string | undefined {
  const path = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  return path.includes('/commitlog/') ? path : undefined;
}

function failure(code: 'EIO' | 'ENOSPC', call: string, path: string): NodeJS.ErrnoException {
  note(code);
  return Object.assign(new Error(`${code}: made by a test, ${call} '${path}'`), { code, syscall: call });
}

fs.fdatasyncSync = (descriptor) => {
  const path = segmentOf(descriptor);
  if (path !== undefined && rule() === 'hold syncs') {
    note('held');
    while (rule() === 'hold syncs') Atomics.wait(never, 0, 0, 5);
  }
  if (path !== undefined && rule() === 'fail syncs') throw failure('EIO', 'fdatasync', path);
  fdatasyncSync(descriptor);
};

/** The form that node-files.ts uses. */
function faultyWrite(descriptor: number, source: Uint8Array, offset: number, length: number, at: number): number {
  const path = segmentOf(descriptor);
  if (path === undefined) return writeSync(descriptor, source, offset, length, at);
  const isRecord = source.subarray(offset, offset + length).some((byte) => byte !== 0);
  switch (rule()) {
    case 'fail records':
      if (!isRecord) break;
      writeSync(descriptor, source, offset, length >> 1, at);
      throw failure('EIO', 'pwrite', path);
    case 'fail writes':
      if (isRecord) writeSync(descriptor, source, offset, length >> 1, at);
      throw failure('EIO', 'pwrite', path);
    case 'full':
      throw failure('ENOSPC', 'pwrite', path);
  }
  return writeSync(descriptor, source, offset, length, at);
}
fs.writeSync = faultyWrite as typeof fs.writeSync;
