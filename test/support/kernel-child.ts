import { systemClock } from '../../kernel/base/clock.js';
import type { Logger } from '../../kernel/base/logger.js';
import { Kernel } from '../../kernel/kernel.js';
import { handleSignals } from '../../kernel/signals.js';
import { callsOf, ThreadHost } from '../../kernel/threads/contract.js';
import { Pool } from '../../kernel/threads/pool.js';
import { until } from './until.js';
import { recordingLogger } from './recording-logger.js';
import { probeMemory, Word, type ProbeBoot, type ProbeCalls } from './probe-service.js';

/**
 * A small kernel in a process of its own, for tests of what a whole process does. The first argument says how it behaves;
 * `stop` stops by itself and must then end without being told to. Lines on standard output: `up`, then one per hook of the stop.
 */
const mode = process.argv[2] as 'plain' | 'slowStop' | 'failingStop' | 'stuck' | 'die' | 'hang' | 'stop';
const probeUrl = new URL('./probe-service.js', import.meta.url);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

class Main {
  #alive: NodeJS.Timeout | undefined;
  open(): void {
    // Stands for a listening socket: keeps the process up.
    this.#alive = setInterval(() => undefined, 1000);
  }
  close(): void {
    say('close');
    clearInterval(this.#alive);
  }
  stop(): Promise<void> | void {
    say('stop');
    if (mode === 'slowStop' || mode === 'stuck') return new Promise<void>(() => setInterval(() => undefined, 1000));
    if (mode === 'failingStop') throw new Error('disk full');
  }
}

const logger: Logger = recordingLogger();
const kernel = await Kernel.boot({
  plugins: [{ name: 'main', needs: [], provides: [], setup: () => undefined, main: Main }],
  options: {} as Parameters<typeof Kernel.boot>[0]['options'],
  clock: systemClock,
  logger,
  topology: { thread: 'own', twin: 'main' },
  threads: { logLevel: 'silent', hangTimeoutMs: mode === 'hang' ? 300 : 10_000 },
});
handleSignals(kernel, logger);
const host = kernel.get<ThreadHost>(ThreadHost);
const { boot, words } = probeMemory();
const running = await host.run<ProbeBoot>('thread', probeUrl, boot);
const calls = callsOf<ProbeCalls>(running);
await host.run<ProbeBoot>('twin', probeUrl, probeMemory().boot);
await kernel.get<Pool>(Pool).run(new URL('./pool-task.js', import.meta.url), { kind: 'thread' });
// Those that end by themselves may do so at any moment from here on.
if (mode !== 'stuck') say('up');
if (mode === 'die') {
  await calls.breakSteps();
  running.kick();
}
if (mode === 'hang' || mode === 'stuck') {
  await calls.hang();
  if (mode === 'stuck') {
    await until(() => kernel.stuckThreads().length > 0, 'the thread is called stuck');
    say('up');
  }
}
if (mode === 'stop') {
  await kernel.stop('asked to');
  process.removeAllListeners('SIGTERM').removeAllListeners('SIGINT');
  say(`closed ${Atomics.load(words, Word.closed)}`);
}
