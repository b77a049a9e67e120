import fs from 'node:fs';

/** What most systems give a process when they do not say. */
const DESCRIPTORS_DEFAULT = 1024;

/** How many files this process may have open (RLIMIT_NOFILE; Node raises the soft limit to the hard one at its start). */
function descriptorLimit(): number {
  try {
    const limit = /^Max open files\s+(\d+|unlimited)/m.exec(fs.readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit ?? DESCRIPTORS_DEFAULT);
  } catch {
    return DESCRIPTORS_DEFAULT;
  }
}

/** So many of one kind as are wanted, but no more than this share of all that the process may have: the others must find some, too. */
export function openFilesMax(wanted: number, share: number): number {
  return Math.max(1, Math.min(wanted, Math.floor(descriptorLimit() * share)));
}
