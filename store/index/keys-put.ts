import { join } from 'node:path';
import { readInt64 } from '../../protocol/int64.js';
import type { StoreFiles } from '../files/contract.js';
import { readHeaderOf } from './index-folder.js';
import { ENTRY_BYTES, ENTRY_OFFSET_AT, entryAt, type IndexLayout } from './layout.js';

interface Folder {
  readonly files: StoreFiles;
  readonly dir: string;
  readonly layout: IndexLayout;
}

/**
 * Hashes of the entries that one record has at the index's end, each with its number. A crash or a full disk may come between two keys of
 * a record: the rest is put later, and no key twice. `active` has a header of its own, since the one on disk is older.
 */
export function keysPut(
  { files, dir, layout }: Folder,
  names: readonly string[],
  active: { readonly name: string | undefined; readonly next: number },
  physicalOffset: number,
): Map<number, number> {
  const hashes = new Map<number, number>();
  for (const name of [...names].reverse()) {
    const path = join(dir, name);
    const next = name === active.name ? active.next : readHeaderOf(files, path).next;
    const file = files.open(path, 'read');
    try {
      if (!collect(file, layout, next, physicalOffset, hashes)) return hashes;
    } finally {
      file.close();
    }
  }
  return hashes;
}

/** Backwards from the file's end; true when all of its entries belong to the record, so that the file before may have more. */
function collect(
  file: { read(target: Buffer, offset: number, length: number, position: number): number },
  layout: IndexLayout,
  next: number,
  physicalOffset: number,
  hashes: Map<number, number>,
): boolean {
  const entry = Buffer.alloc(ENTRY_BYTES);
  for (let number = next - 1; number >= 1; number--) {
    file.read(entry, 0, ENTRY_BYTES, entryAt(layout, number));
    if (readInt64(entry, ENTRY_OFFSET_AT) !== physicalOffset) return false;
    const hash = entry.readInt32BE(0);
    hashes.set(hash, (hashes.get(hash) ?? 0) + 1);
  }
  return true;
}
