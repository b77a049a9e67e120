import { systemClock } from '../../kernel/base/clock.js';
import type { KernelError } from '../../kernel/base/errors.js';
import { callsOf, type Topology } from '../../kernel/threads/contract.js';
import type { ThreadLimits } from '../../kernel/threads/limits.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { TopologyThreadHost } from '../../kernel/threads/thread-host.js';
import type { ProbeCalls } from './probe-service.js';
import { recordingLogger, type LogLine } from './recording-logger.js';

/** A thread host whose fatal errors, kills and log lines are kept instead of acted on. */
export interface TestThreads {
  readonly host: TopologyThreadHost;
  readonly fatal: KernelError[];
  readonly lines: LogLine[];
  readonly kills: () => number;
}

export function testThreads(topology: Topology, limits: Partial<ThreadLimits> = {}): TestThreads {
  const fatal: KernelError[] = [];
  const logger = recordingLogger();
  let kills = 0;
  const host = new TopologyThreadHost({
    clock: systemClock,
    logger,
    topology,
    limits: { logLevel: 'silent', restartDelayMs: 1, ...limits },
    onFatal: (error) => fatal.push(error),
    kill: () => void kills++,
  });
  return { host, fatal, lines: logger.lines, kills: () => kills };
}

/** Breaks a probe; its death may be told before the answer is. */
export async function breakSteps(probe: RunningService): Promise<void> {
  await callsOf<ProbeCalls>(probe)
    .breakSteps()
    .catch(() => undefined);
}
