import type { Pool } from '../../kernel/threads/contract.js';

/** Runs pool tasks on the caller's thread. */
export const localPool: Pool = {
  async run<T>(taskUrl: URL, args: unknown): Promise<T> {
    const task = (await import(taskUrl.href)) as { readonly default: (given: unknown) => T | Promise<T> };
    return task.default(args);
  },
};
