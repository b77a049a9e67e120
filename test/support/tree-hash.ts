import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A digest of everything in a folder: names, kinds, bytes. */
export function treeHash(dir: string): string {
  const hash = createHash('sha256');
  const visit = (path: string, name: string): void => {
    const isDir = lstatSync(path).isDirectory();
    hash.update(`${name}\0${isDir ? 'dir' : 'file'}\0`);
    if (isDir) for (const child of readdirSync(path).sort()) visit(join(path, child), join(name, child));
    else hash.update(readFileSync(path));
  };
  visit(dir, '');
  return hash.digest('hex');
}
