import { KernelError } from '../../kernel/base/errors.js';
import type { StoreFile } from '../files/contract.js';
import { ENTRY_BYTES, entryAt, type IndexLayout } from './layout.js';
import type { Slots } from './slots.js';

const CHUNK_ENTRIES = 50_000;

/** Makes the slots again from the file's entries below `next`: each slot names its newest entry. */
export function replaySlots(file: StoreFile, layout: IndexLayout, next: number, slots: Slots): void {
  slots.clear();
  const chunk = Buffer.allocUnsafe(CHUNK_ENTRIES * ENTRY_BYTES);
  for (let first = 1; first < next; first += CHUNK_ENTRIES) {
    const count = Math.min(CHUNK_ENTRIES, next - first);
    const read = file.read(chunk, 0, count * ENTRY_BYTES, entryAt(layout, first));
    if (read < count * ENTRY_BYTES)
      throw new KernelError('INDEX_SHORT', `${file.path} ends before entry ${next - 1}`, {
        remedy: 'stop the broker and remove the folder index: it is built again from the commit log',
      });
    for (let index = 0; index < count; index++)
      slots.set((chunk.readInt32BE(index * ENTRY_BYTES) & 0x7fffffff) % layout.slots, first + index);
  }
}
