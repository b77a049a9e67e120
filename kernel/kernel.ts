import type { DependencyContainer, InjectionToken } from 'tsyringe';
import type { Options as OptionsType } from '../config/options.js';
import type { Clock as ClockType } from './base/clock.js';
import { KernelError, messageOf } from './base/errors.js';
import type { Logger as LoggerType } from './base/logger.js';
import { LoggedProgress, type Progress as ProgressType } from './base/progress.js';
import { createRootContainer, tokenName } from './container.js';
import { endProcess } from './end-process.js';
import type { PluginMain, PluginManifest } from './plugin.js';
import { formatTree, orderPlugins, type PluginTiming } from './plugin-tree.js';
import { ThreadHost, type Topology } from './threads/contract.js';
import { wrapped } from './threads/errors.js';
import type { PoolLimits, ThreadLimits } from './threads/limits.js';
import { PiscinaPool, Pool } from './threads/pool.js';
import { TopologyThreadHost } from './threads/thread-host.js';
import { withLimit } from './threads/with-limit.js';
import { Clock, Logger, Options, Progress } from './tokens.js';

export interface BootOptions {
  readonly plugins: readonly PluginManifest[];
  readonly options: OptionsType;
  readonly clock: ClockType;
  readonly logger: LoggerType;
  /** Where long steps of the start tell how far they are; by default log lines. */
  readonly progress?: ProgressType;
  /** Time limit of every hook of every plugin, milliseconds. */
  readonly hookTimeoutMs?: number;
  /** Service to thread; without it each service has a thread of its own. */
  readonly topology?: Topology;
  readonly threads?: Partial<ThreadLimits>;
  readonly pool?: Partial<PoolLimits>;
  /** A part that nothing can go on without has died. By default the process ends with the error's exit code. */
  readonly onFatal?: (error: KernelError) => void;
}

const HOOK_TIMEOUT_MS = 60_000;

type Hook = 'start' | 'open' | 'close' | 'stop';

/** A main class as tsyringe types one. */
type MainToken = Extract<InjectionToken<PluginMain>, new (...args: never[]) => PluginMain>;

interface Started {
  readonly name: string;
  readonly main: PluginMain | undefined;
}

/** Boots a profile: knows no plugin and no worker by name. */
export class Kernel {
  readonly #root: DependencyContainer;
  readonly #logger: LoggerType;
  readonly #clock: ClockType;
  readonly #hookTimeoutMs: number;
  readonly #threads: TopologyThreadHost;
  readonly #pool: PiscinaPool;
  /** In the order of starting. */
  readonly #started: Started[] = [];
  #tree = '';
  #stopping: Promise<void> | undefined;

  /**
   * Sets up and starts the plugins in order of their needs, then opens them in the same order. Rejects with a KernelError naming
   * the plugin; everything that had started by then has been closed and stopped in reverse order.
   */
  static async boot(options: BootOptions): Promise<Kernel> {
    const ordered = orderPlugins(options.plugins);
    const kernel = new Kernel(options);
    try {
      await kernel.#boot(ordered);
    } catch (error) {
      await kernel.stop('the boot failed').catch(() => undefined);
      throw error;
    }
    return kernel;
  }

  private constructor(options: BootOptions) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#hookTimeoutMs = options.hookTimeoutMs ?? HOOK_TIMEOUT_MS;
    this.#threads = new TopologyThreadHost({
      clock: options.clock,
      logger: options.logger,
      onFatal: options.onFatal ?? ((error) => endProcess(error.exitCode, this.stuckThreads())),
      ...(options.topology === undefined ? {} : { topology: options.topology }),
      ...(options.threads === undefined ? {} : { limits: options.threads }),
    });
    this.#pool = new PiscinaPool(options.logger, options.pool);
    this.#root = createRootContainer();
    this.#root.registerInstance(Clock, options.clock);
    this.#root.registerInstance(Logger, options.logger);
    this.#root.registerInstance(Options, options.options);
    this.#root.registerInstance(Progress, options.progress ?? new LoggedProgress(options.clock, options.logger));
    this.#root.registerInstance<ThreadHost>(ThreadHost, this.#threads);
    this.#root.registerInstance<Pool>(Pool, this.#pool);
  }

  /** What started in which order and how long it took, as text for people. */
  get tree(): string {
    return this.#tree;
  }

  /** For tests and embedded use. Plugins get what they need by constructor. */
  get<T>(token: InjectionToken<T>): T {
    return this.#root.resolve(token);
  }

  /** Threads whose last turn is so old that ending the process may have to wait for them. */
  stuckThreads(): string[] {
    return this.#threads.stuck();
  }

  /**
   * Closes every plugin in reverse order, then stops every plugin in reverse order; a hook that throws or hangs is logged by the
   * plugin's name and does not keep the others from theirs. Rejects with the first such error. Calls after the first join it.
   */
  stop(reason: string): Promise<void> {
    this.#stopping ??= this.#stop(reason);
    return this.#stopping;
  }

  async #boot(ordered: readonly PluginManifest[]): Promise<void> {
    const bootMs = this.#clock.monoMs();
    const timings: PluginTiming[] = [];
    for (const { services } of ordered) for (const service of services ?? []) this.#threads.warm(service);
    for (const manifest of ordered) {
      const timing: PluginTiming = { manifest, setupMs: 0, startMs: 0, openMs: 0 };
      timings.push(timing);
      const setupMs = this.#clock.monoMs();
      const main = await this.#setup(manifest, ordered);
      const startMs = this.#clock.monoMs();
      timing.setupMs = startMs - setupMs;
      await this.#run(manifest.name, 'start', main);
      this.#started.push({ name: manifest.name, main });
      timing.startMs = this.#clock.monoMs() - startMs;
    }
    for (const [i, { name, main }] of this.#started.entries()) {
      const openMs = this.#clock.monoMs();
      await this.#run(name, 'open', main);
      timings[i]!.openMs = this.#clock.monoMs() - openMs;
    }
    this.#tree = formatTree(timings, this.#clock.monoMs() - bootMs);
  }

  /** A child container with the plugin's classes; what it provides is made visible to the plugins after it. */
  async #setup(manifest: PluginManifest, ordered: readonly PluginManifest[]): Promise<PluginMain | undefined> {
    const { name } = manifest;
    const child = this.#root.createChildContainer();
    // So that a class that is both main and a provided token is made once: `register(Token, { useToken: Main })`.
    const mainClass = manifest.main as MainToken | undefined;
    if (mainClass !== undefined) child.registerSingleton(mainClass);
    await this.#limited(name, 'setup', () => manifest.setup(child));
    for (const token of manifest.provides) {
      if (!child.isRegistered(token))
        throw new KernelError(
          'PLUGIN_PROVIDES',
          `plugin '${name}' says that it provides ${tokenName(token)}, but its setup registered none`,
          {
            remedy: 'register the token in setup, or take it out of provides',
          },
        );
      this.#root.register(token, { useFactory: () => child.resolve(token) });
    }
    if (mainClass === undefined) return undefined;
    try {
      const main = child.resolve<PluginMain>(mainClass);
      for (const token of manifest.provides) guardMain(name, child, token, main);
      return main;
    } catch (error) {
      throw unresolved(name, error, ordered);
    }
  }

  async #run(name: string, hook: Hook, main: PluginMain | undefined): Promise<void> {
    if (main?.[hook] !== undefined) await this.#limited(name, hook, () => main[hook]?.());
  }

  async #limited(name: string, hook: Hook | 'setup', work: () => void | Promise<void>): Promise<void> {
    const late = (ms: number): KernelError =>
      new KernelError('PLUGIN_HUNG', `plugin '${name}' hangs in ${hook}: it has not finished after ${ms} ms`, {
        remedy: 'look at what it waits for, or raise the time limit of hooks',
      });
    try {
      await withLimit(Promise.resolve().then(work), this.#hookTimeoutMs, late);
    } catch (error) {
      if (error instanceof KernelError && error.code === 'PLUGIN_HUNG') throw error;
      throw wrapped('PLUGIN_FAILED', `plugin '${name}' failed in ${hook}`, error);
    }
  }

  async #stop(reason: string): Promise<void> {
    this.#logger.info({ reason }, 'stopping');
    const errors: unknown[] = [];
    for (const hook of ['close', 'stop'] as const) {
      for (const { name, main } of this.#started.toReversed()) {
        try {
          await this.#run(name, hook, main);
        } catch (error) {
          errors.push(error);
          this.#logger.error({ plugin: name, hook }, messageOf(error));
        }
      }
    }
    // What plugins left behind; also of one that failed half-way through its start.
    await this.#threads.stop();
    await this.#pool.stop().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
    this.#logger.info({ reason }, 'stopped');
  }
}

/** `registerSingleton(Token, Main)` would silently make a second main, one that no hook ever reaches. */
function guardMain(name: string, child: DependencyContainer, token: InjectionToken, main: PluginMain): void {
  child.afterResolution(token, (_token, result) => {
    if (result === main || (result as object | undefined)?.constructor !== main.constructor) return;
    throw new KernelError(
      'PLUGIN_PROVIDES',
      `plugin '${name}' provides ${tokenName(token)} as a second instance of its main class`,
      {
        remedy: `register(token, { useToken: ${main.constructor.name} })`,
      },
    );
  });
}

/** Why a main could not be made; names the plugin whose token it injects without needing it. */
function unresolved(name: string, error: unknown, plugins: readonly PluginManifest[]): KernelError {
  const missing = /unregistered dependency token: "(?:Symbol\()?([^")]+)/.exec(messageOf(error))?.[1];
  const owner = plugins.find(({ provides }) => provides.some((token) => tokenName(token) === missing));
  const inner = wrapped('PLUGIN_FAILED', `plugin '${name}' could not be made`, error);
  if (owner === undefined) return inner;
  return new KernelError('PLUGIN_FAILED', inner.message, {
    cause: error,
    remedy: `${missing} is provided by '${owner.name}': add that to the needs of '${name}'`,
  });
}
