/** Appends on the network thread: the shortest way of a message, for few cores. What may wait for a disk is apart: the flush, and who reads old messages. */
export const fused = {
  commitlog: 'main',
  flush: 'own',
  reput: 'main',
  ha: 'main',
  schedule: 'background',
  transaction: 'background',
} as const;
