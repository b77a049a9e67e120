/** The only list of thread entries: service name to compiled file. */
export const workerUrls = {
  commitlog: new URL('./commitlog/entry.js', import.meta.url),
  flush: new URL('./flush/entry.js', import.meta.url),
  reput: new URL('./reput/entry.js', import.meta.url),
  schedule: new URL('./schedule/entry.js', import.meta.url),
  transaction: new URL('./transaction/entry.js', import.meta.url),
  watchdog: new URL('./watchdog/entry.js', import.meta.url),
} as const;
