import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, resolve } from 'node:path';
import { declarations } from '../../../config/options.js';
import { fromSetFlags } from '../../../config/sources.js';
import { loadTopology, topologyPresets, type Topology } from '../../../config/topology.js';
import { ExitCode, KernelError } from '../../../kernel/base/errors.js';
import { parseDelayLevels } from '../../../store/dispatch/delay-levels.js';
import type { HeaderForm } from '../frames.js';
import { type Phase, phases } from './phases.js';

/** What commander collects for `kernel bench topologies`. */
export interface TopologiesFlags {
  readonly size: number;
  readonly window: number;
  readonly connections: number;
  readonly batch: number;
  readonly rate: number;
  readonly header: HeaderForm;
  readonly seconds: number;
  readonly warm: number;
  readonly turns: number;
  readonly only?: string;
  readonly flush?: string;
  readonly set?: readonly string[];
  readonly store?: string;
  readonly json?: string;
  readonly html?: string;
}

/** The load that every broker gets. */
export interface LoadSettings {
  readonly bodyBytes: number;
  readonly window: number;
  readonly connections: number;
  readonly perBatch: number;
  /** Messages per second of the phases at a fixed rate. */
  readonly perSecond: number;
  /** What delay level 1 means at the brokers. */
  readonly firstLevelMs: number;
  readonly form: HeaderForm;
  readonly seconds: number;
  readonly warmSeconds: number;
}

export interface NamedTopology {
  readonly name: string;
  /** As `kernel start --topology` takes it. */
  readonly value: string;
  readonly placements: Topology;
}

export interface TopologiesSettings {
  readonly topologies: readonly NamedTopology[];
  readonly phases: readonly Phase[];
  readonly load: LoadSettings;
  readonly turns: number;
  /** `key=value` of the brokers. */
  readonly brokerSet: readonly string[];
  /** Where the stores are made and deleted again. */
  readonly storeParent: string;
  readonly jsonFile: string | undefined;
  readonly htmlFile: string | undefined;
}

/** Throws KernelError (exit code 2) before anything is started. */
export function topologiesSettings(files: readonly string[], flags: TopologiesFlags): TopologiesSettings {
  const brokerSet = [...(flags.flush === undefined ? [] : [`flushDiskType=${flags.flush}`]), ...(flags.set ?? [])];
  checkBrokerSet(brokerSet);
  const storeParent = resolve(flags.store ?? tmpdir());
  if (!existsSync(storeParent))
    throw usage(`${storeParent} does not exist`, 'name a folder for the stores with --store');
  return {
    topologies: namedTopologies(files),
    phases: chosenPhases(flags.only),
    load: {
      bodyBytes: flags.size,
      window: flags.window,
      connections: flags.connections,
      perBatch: flags.batch,
      perSecond: flags.rate,
      firstLevelMs: firstLevelMs(brokerSet),
      form: flags.header,
      seconds: flags.seconds,
      warmSeconds: flags.warm,
    },
    turns: flags.turns,
    brokerSet,
    storeParent,
    jsonFile: flags.json,
    htmlFile: flags.html,
  };
}

/** The presets, then the files under their names; one whose name is taken goes by its path. */
export function namedTopologies(files: readonly string[]): NamedTopology[] {
  const named: NamedTopology[] = topologyPresets.map((name) => ({
    name,
    value: name,
    placements: loadTopology({ topology: name, memory: false }),
  }));
  for (const file of files) {
    const value = resolve(file);
    if (named.some((other) => other.value === value)) throw usage(`${file} is given twice`, 'give each file once');
    const short = basename(file, '.json');
    const name = named.some((other) => other.name === short) ? file : short;
    named.push({ name, value, placements: loadTopology({ topology: value, memory: false }) });
  }
  return named;
}

function chosenPhases(only: string | undefined): Phase[] {
  if (only === undefined) return [...phases];
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !phases.some((phase) => phase.name === name));
  if (unknown !== undefined)
    throw usage(`there is no phase '${unknown}'`, `--only takes some of ${phases.map(({ name }) => name).join(',')}`);
  return phases.filter(({ name }) => names.includes(name));
}

/** Throws KernelError when the brokers would be told something else than levels. */
function firstLevelMs(brokerSet: readonly string[]): number {
  const set = fromSetFlags([...brokerSet]).findLast(({ name }) => name === 'messageDelayLevel');
  return parseDelayLevels(String(set?.raw ?? declarations.get('messageDelayLevel')!.default))[0]!;
}

/** What the comparison itself sets may not be set differently. */
function checkBrokerSet(brokerSet: readonly string[]): void {
  const taken = ['topology', 'memory', 'storePathRootDir', 'listenPort', 'namesrvListenPort', 'readyFile', 'role'];
  for (const { name } of fromSetFlags([...brokerSet]))
    if (taken.includes(name)) throw usage(`--set ${name} is chosen by the comparison itself`, 'leave it out');
}

function usage(problem: string, remedy: string): KernelError {
  return new KernelError('BENCH_USAGE', problem, { remedy, exitCode: ExitCode.usage });
}
