/** `kernel dev`: the profile of role all, in one process, gone at the end, reachable from this machine only. */
export const dev = {
  role: 'all',
  memory: true,
  bindAddress: '127.0.0.1',
  plugins: ['sql92'],
  logLevel: 'warn',
} as const;
