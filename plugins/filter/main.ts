import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { startWatchdog } from '../../workers/watchdog/handle.js';
import { CachingFilterRegistry } from './registry.js';

/** Filters share the network thread: one that holds it for longer is named. */
const BLOCKED_MS = 1000;

/** Has filters watched that are not built in; without one there is no watchdog. */
@injectable()
export class Filters implements PluginMain {
  #watchdog: RunningService | undefined;

  constructor(
    @inject(CachingFilterRegistry) private readonly registry: CachingFilterRegistry,
    @inject(ThreadHost) private readonly threads: ThreadHost,
  ) {}

  async start(): Promise<void> {
    const { hasForeign, answering, dispatching } = this.registry;
    if (!hasForeign) return;
    const threads = [
      { name: 'main', calls: answering.calls },
      { name: this.threads.inProcess('reput') ? 'main' : 'reput', calls: dispatching.calls },
    ];
    this.#watchdog = await startWatchdog(this.threads, { threads, blockedMs: BLOCKED_MS });
  }

  async stop(): Promise<void> {
    await this.#watchdog?.stop();
  }
}
