/** A thread for each service: the widest, and the default. */
export const dedicated = {
  commitlog: 'own',
  flush: 'own',
  reput: 'own',
  ha: 'own',
  schedule: 'own',
  transaction: 'own',
} as const;
