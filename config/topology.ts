import { readFileSync } from 'node:fs';
import { ExitCode, KernelError, messageOf } from '../kernel/base/errors.js';
import { hint } from './nearest.js';
import { dedicated } from './topologies/dedicated.js';
import { fused } from './topologies/fused.js';
import { paired } from './topologies/paired.js';

/** What can run on a thread of its own; the order is the order of the data. */
export const services = ['commitlog', 'flush', 'reput', 'ha', 'schedule', 'transaction'] as const;
export type ServiceName = (typeof services)[number];

/** `own`: a thread for this service alone; `main`: in-process; any other word: shared by all that say the same word. */
export type Placement = string;
export type Topology = Readonly<Record<ServiceName, Placement>> & {
  /** Services that have no name of their own in this list. */
  readonly '*'?: Placement;
};

const presets: Readonly<Record<string, Topology>> = { dedicated, fused, paired };
export const topologyPresets: readonly string[] = Object.keys(presets);

/** Everything in-process: what the memory store and `kernel dev` use. */
export const allOnMain: Topology = {
  commitlog: 'main',
  flush: 'main',
  reput: 'main',
  ha: 'main',
  schedule: 'main',
  transaction: 'main',
  '*': 'main',
};

/**
 * The topology that the options ask for: a preset by name, or a JSON file `{ "commitlog": "own", "reput": "main", … }` whose
 * missing services are placed as in `dedicated`. Throws KernelError (exit code 2) naming the wrong part.
 */
export function loadTopology(options: { readonly topology: string; readonly memory: boolean }): Topology {
  if (options.memory) return allOnMain;
  const preset = Object.hasOwn(presets, options.topology) ? presets[options.topology] : undefined;
  return preset ?? fromFile(options.topology);
}

function fromFile(path: string): Topology {
  if (!/[./\\]/.test(path))
    throw usage(
      `there is no topology ${path}${hint(path, Object.keys(presets))}`,
      `${Object.keys(presets).join(', ')} or a JSON file`,
    );
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw usage(`${path}: ${messageOf(error)}`, 'a JSON object that maps services to threads', error);
  }
  return checkTopology(parsed, path);
}

/** Checks what a file held. */
export function checkTopology(parsed: unknown, where: string): Topology {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw usage(`${where}: not a JSON object`, `for example {"commitlog": "own", "reput": "main"}`);
  const placements: Record<ServiceName, Placement> = { ...dedicated };
  for (const [name, placement] of Object.entries(parsed)) {
    if (!isService(name))
      throw usage(`${where}: there is no service ${name}${hint(name, services)}`, services.join(', '));
    if (typeof placement !== 'string' || !/^[a-z][a-z0-9-]{0,31}$/i.test(placement))
      throw usage(
        `${where}: ${name} is placed on ${JSON.stringify(placement)}`,
        'own, main, or the name of a shared thread',
      );
    placements[name] = placement;
  }
  return placements;
}

/** The threads of a topology beside the main one, each with the services it runs. */
export function threadsOf(topology: Topology): Map<string, ServiceName[]> {
  const threads = new Map<string, ServiceName[]>();
  for (const service of services) {
    const placement = topology[service];
    if (placement === 'main') continue;
    const thread = placement === 'own' ? service : placement;
    threads.set(thread, [...(threads.get(thread) ?? []), service]);
  }
  return threads;
}

function isService(name: string): name is ServiceName {
  return (services as readonly string[]).includes(name);
}

function usage(problem: string, remedy: string, cause?: unknown): KernelError {
  return new KernelError('TOPOLOGY_INVALID', problem, { exitCode: ExitCode.usage, remedy, cause });
}
