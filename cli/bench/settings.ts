import { ExitCode, KernelError } from '../../kernel/base/errors.js';
import type { BenchSettings, LoadKind } from './bench.js';

/** What commander collects for `kernel bench …`. */
export interface BenchFlags {
  readonly namesrvAddr: string;
  readonly broker?: string;
  readonly topic: string;
  readonly size: number;
  readonly window: number;
  readonly connections: number;
  readonly duration: number;
  readonly warm: number;
  readonly header: 'binary' | 'json';
  readonly queues?: number;
  readonly keys?: boolean;
  readonly batch?: number;
  readonly pull?: number;
  readonly json?: string;
  readonly pid?: number;
  readonly peer?: string;
  readonly peerPid?: number;
  readonly turns: number;
}

export function benchSettings(kind: LoadKind, flags: BenchFlags): BenchSettings {
  if (flags.duration === 0 && kind !== 'consume')
    throw new KernelError('BENCH_USAGE', 'a duration of 0 means once through the backlog', {
      remedy: `give ${kind} at least one second`,
      exitCode: ExitCode.usage,
    });
  const direct = flags.broker !== undefined;
  return {
    kind,
    side: { address: flags.broker ?? flags.namesrvAddr, direct, pid: flags.pid },
    peer: flags.peer === undefined ? undefined : { address: flags.peer, direct, pid: flags.peerPid },
    topic: flags.topic,
    bodyBytes: flags.size,
    window: flags.window,
    connections: flags.connections,
    seconds: flags.duration,
    warmSeconds: flags.warm,
    form: flags.header,
    queues: flags.queues,
    keys: flags.keys === true,
    perRequest: kind === 'produce' ? 1 : kind === 'batch' ? (flags.batch ?? 32) : (flags.pull ?? 32),
    turns: flags.turns,
    jsonFile: flags.json,
  };
}
