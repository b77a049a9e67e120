import { CallBoard } from '../../kernel/ring/call-board.js';
import type { Service, ServiceContext } from '../../kernel/threads/service.js';
import type { WatchdogBoot } from './contract.js';

/** Looks at a call before it is named. */
const LOOKS = 4;

interface Watched {
  readonly name: string;
  readonly calls: CallBoard;
  /** The call that was running at the last look, by its count. */
  count: number | undefined;
  seenMonoMs: number;
  stillMs: number;
  nextMs: number;
}

/** Names calls into foreign code that block their thread, while they do. */
export class Watchdog implements Service {
  readonly #threads: readonly Watched[];
  readonly #lookMs: number;
  #lastMonoMs: number;

  constructor(
    private readonly boot: WatchdogBoot,
    private readonly context: ServiceContext,
  ) {
    const still = { count: undefined, seenMonoMs: 0, stillMs: 0, nextMs: boot.blockedMs };
    this.#threads = boot.threads.map(({ name, calls }) => ({ name, calls: new CallBoard(calls), ...still }));
    this.#lookMs = boot.blockedMs / LOOKS;
    this.#lastMonoMs = context.clock.monoMs();
  }

  step(): number {
    const now = this.context.clock.monoMs();
    // A gap between two looks counts as two of them at most: while the whole process is stopped no call can end.
    const passedMs = Math.min(now - this.#lastMonoMs, 2 * this.#lookMs);
    this.#lastMonoMs = now;
    for (const thread of this.#threads) this.#look(thread, now, passedMs);
    return this.#lookMs;
  }

  close(): void {}

  #look(thread: Watched, now: number, passedMs: number): void {
    const running = thread.calls.running();
    if (running === undefined || running.count !== thread.count) {
      if (thread.count !== undefined) thread.calls.forget(thread.count);
      thread.count = running?.count;
      thread.seenMonoMs = now;
      thread.stillMs = 0;
      thread.nextMs = this.boot.blockedMs;
      return;
    }
    thread.stillMs += passedMs;
    if (thread.stillMs < thread.nextMs) return;
    thread.nextMs *= 10;
    thread.calls.named(running.count, thread.seenMonoMs);
    this.context.logger.error(
      { thread: thread.name, call: running.name, forMs: Math.round(now - thread.seenMonoMs) },
      `${running.name} blocks thread '${thread.name}', which does nothing else until it returns; if it never does, end the process and start without that plugin`,
    );
  }
}
