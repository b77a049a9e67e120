/** Appends on the network thread: the shortest way of a message, for few cores. Only the flush, which waits for a disk, is apart. */
export const fused = {
  commitlog: 'main',
  flush: 'own',
  reput: 'main',
  ha: 'main',
  schedule: 'main',
  transaction: 'main',
} as const;
