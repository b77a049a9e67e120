/** Two threads: one writes and flushes, one makes the messages visible and looks after the delayed ones. */
export const paired = {
  commitlog: 'writer',
  flush: 'writer',
  reput: 'reader',
  ha: 'own',
  schedule: 'reader',
  transaction: 'reader',
} as const;
