import type { Piscina } from 'piscina';
import { KernelError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { Pool, TaskOptions } from './contract.js';
import { defaultPoolLimits, type PoolLimits } from './limits.js';
import { withLimit } from './with-limit.js';

export { Pool } from './contract.js';

/** Young generation of a pool thread's heap, MiB. */
const YOUNG_GENERATION_MB = 8;

/** piscina behind the `Pool` token. Loaded and started by the first task, so that a broker that needs none pays nothing. */
export class PiscinaPool implements Pool {
  readonly #logger: Logger;
  readonly #limits: PoolLimits;
  /** Handed over and not finished, running or waiting. */
  readonly #tasks = new Set<Promise<unknown>>();
  #piscina: Promise<Piscina> | undefined;
  #stopped: Promise<void> | undefined;

  constructor(logger: Logger, limits: Partial<PoolLimits> = {}) {
    this.#logger = logger;
    this.#limits = { ...defaultPoolLimits, ...limits };
  }

  async run<T>(taskUrl: URL, args: unknown, options: TaskOptions = {}): Promise<T> {
    const { queueMax, threadsMax } = this.#limits;
    if (this.#stopped !== undefined)
      throw new KernelError(
        'POOL_STOPPED',
        `the pool takes no task any more (${taskUrl.href}): the kernel is stopping`,
      );
    if (this.#tasks.size >= queueMax + threadsMax)
      throw new KernelError(
        'POOL_FULL',
        `the pool is full: ${queueMax} tasks wait for ${threadsMax} threads (${taskUrl.href})`,
        {
          remedy: 'wait for tasks in flight, or raise queueMax or threadsMax of the pool',
        },
      );
    const task = this.#run(taskUrl, args, options);
    this.#tasks.add(task);
    try {
      return (await task) as T;
    } finally {
      this.#tasks.delete(task);
    }
  }

  /**
   * Takes no more tasks, lets those in hand finish, ends the threads. Rejects with POOL_HUNG when that takes longer than
   * `stopTimeoutMs`; what has not finished by then is ended and rejected.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #run(taskUrl: URL, args: unknown, { transfer, signal }: TaskOptions): Promise<unknown> {
    this.#piscina ??= this.#create();
    const piscina = await this.#piscina;
    return piscina.run(args, {
      filename: taskUrl.href,
      ...(transfer === undefined ? {} : { transferList: [...transfer] }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Not by piscina's `close`: that drops the tasks that wait, and emits an error that nobody hears when it takes too long. */
  async #stop(): Promise<void> {
    if (this.#piscina === undefined) return;
    const piscina = await this.#piscina;
    const { stopTimeoutMs } = this.#limits;
    const late = (ms: number): KernelError =>
      new KernelError('POOL_HUNG', `${this.#tasks.size} tasks of the pool have not finished within ${ms} ms`);
    try {
      await withLimit(Promise.allSettled(this.#tasks), stopTimeoutMs, late);
    } catch (error) {
      void piscina.destroy();
      throw error;
    }
    await withLimit(piscina.destroy(), stopTimeoutMs, late);
  }

  async #create(): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    const piscina = new Piscina({
      minThreads: 0,
      maxThreads: this.#limits.threadsMax,
      idleTimeout: this.#limits.idleTimeoutMs,
      // The bound is kept in `run`: here tasks count as waiting until a thread is up.
      maxQueue: this.#limits.queueMax + this.#limits.threadsMax,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    piscina.on('error', (error: unknown) =>
      this.#logger.error({ error: messageOf(error) }, 'a thread of the pool failed'),
    );
    return piscina;
  }
}
