import { join } from 'node:path';
import { systemCodeOf } from '../../kernel/base/errors.js';
import type { StoreFile, StoreFiles } from './contract.js';
import { segmentName } from './paths.js';

/**
 * Fills `target` from `position` on in the row of equally large files of a folder, without holding the thread; returns how much was
 * there. The descriptors are its own: nobody closes them while it reads.
 */
export async function readAcross(
  files: StoreFiles,
  dir: string,
  fileBytes: number,
  target: Buffer,
  position: number,
): Promise<number> {
  let done = 0;
  while (done < target.length) {
    const inFile = (position + done) % fileBytes;
    const file = openIfThere(files, join(dir, segmentName(position + done - inFile)));
    if (file === undefined) break;
    const wanted = Math.min(target.length - done, fileBytes - inFile);
    const count = await readAndClose(file, target, done, wanted, inFile);
    done += count;
    if (count < wanted) break;
  }
  return done;
}

async function readAndClose(
  file: StoreFile,
  target: Buffer,
  at: number,
  length: number,
  position: number,
): Promise<number> {
  try {
    return await file.readAsync(target, at, length, position);
  } finally {
    file.close();
  }
}

function openIfThere(files: StoreFiles, path: string): StoreFile | undefined {
  try {
    return files.open(path, 'read');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
