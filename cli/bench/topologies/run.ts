import { AdminClient } from '../../../client/index.js';
import { KernelError } from '../../../kernel/base/errors.js';
import { systemClock } from '../../../kernel/base/clock.js';
import type { BrokerTarget } from '../load.js';
import { measure, type LoadResult } from '../measure.js';
import { targetsOf } from '../prepare.js';
import { liveText } from '../report.js';
import { BrokerChild } from './broker-child.js';
import { FiguresProbe, type BrokerFigures, type RuntimeTable } from './figures.js';
import { unlessAborted } from './interruption.js';
import { filling, QUEUES, TOPIC, type Phase } from './phases.js';
import type { PlanProgress } from './plan-progress.js';
import type { NamedTopology, TopologiesSettings } from './settings.js';

/** One phase on one broker. */
export interface TopologyRun extends LoadResult {
  readonly topology: string;
  /** Counted from 1. */
  readonly turn: number;
  readonly phase: string;
  /** Its rate was given. */
  readonly paced: boolean;
  readonly figures: BrokerFigures;
}

/** How long reput may take for what a phase left behind. */
const CATCH_UP_MS = 60_000;
const LOOK_MS = 20;
/** Batches for so long make a backlog that one pass through does not finish at once. */
const FILL_SECONDS = 1;

/** All phases, one after the other, on a fresh broker. */
export async function runTopology(
  settings: TopologiesSettings,
  topology: NamedTopology,
  turn: number,
  progress: PlanProgress,
  signal: AbortSignal,
): Promise<TopologyRun[]> {
  signal.throwIfAborted();
  const { brokerSet: set, storeParent } = settings;
  const child = await BrokerChild.start({ topology: topology.value, set, storeParent });
  const admin = new AdminClient({ namesrvAddr: child.address });
  try {
    const ask = (): Promise<RuntimeTable> => admin.brokerRuntimeInfo(child.address);
    const script = new Script(settings, topology.name, turn, progress, child.pid, ask);
    return await child.whileItRuns(unlessAborted(signal, () => script.run(child.address)));
  } finally {
    await admin.close();
    await child.stop();
  }
}

class Script {
  #written = false;

  constructor(
    private readonly settings: TopologiesSettings,
    private readonly topology: string,
    private readonly turn: number,
    private readonly progress: PlanProgress,
    private readonly pid: number,
    private readonly ask: () => Promise<RuntimeTable>,
  ) {}

  async run(address: string): Promise<TopologyRun[]> {
    const wish = { topics: [TOPIC], queues: QUEUES, use: 'write', progress: () => undefined } as const;
    const targets = await targetsOf({ address, direct: true }, wish);
    const runs: TopologyRun[] = [];
    for (const phase of this.settings.phases) {
      if (phase.reads && !this.#written) await this.#fill(targets);
      await this.#caughtUp();
      runs.push(await this.#phase(phase, targets));
      if (!phase.reads) this.#written = true;
    }
    return runs;
  }

  async #phase(phase: Phase, targets: readonly BrokerTarget[]): Promise<TopologyRun> {
    const { load, turns } = this.settings;
    const part = `turn ${this.turn}/${turns} ${this.topology} ${phase.name}`;
    this.progress.at(part, 0, '');
    const probe = new FiguresProbe(this.pid, this.ask);
    const { seconds } = load;
    const warmSeconds = load.warmSeconds + (phase.leadSeconds?.(load) ?? 0);
    const result = await measure(
      await phase.open(load, targets),
      { warmSeconds: load.warmSeconds, seconds, pid: this.pid, probe },
      (line) => this.progress.at(part, line.elapsedSeconds + (line.warm ? 0 : warmSeconds), liveText(line)),
    );
    const rate = Math.round(result.messagesPerSecond).toLocaleString('en-US');
    this.progress.partDone(part, warmSeconds + seconds, `${rate} msg/s`);
    const { name, paced } = phase;
    return { topology: this.topology, turn: this.turn, phase: name, paced, ...result, figures: probe.figures };
  }

  /** So that a phase that reads finds something. */
  async #fill(targets: readonly BrokerTarget[]): Promise<void> {
    const { load } = this.settings;
    const quiet = (): void => undefined;
    const settings = { warmSeconds: 0, seconds: FILL_SECONDS, pid: undefined };
    await measure(await filling.open(load, targets), settings, quiet);
    this.#written = true;
  }

  /** What one phase left to do must not be paid by the next. */
  async #caughtUp(): Promise<void> {
    const endMs = systemClock.monoMs() + CATCH_UP_MS;
    while (Number((await this.ask()).get('dispatchBehindBytes')) > 0) {
      if (systemClock.monoMs() > endMs)
        throw new KernelError(
          'BENCH_BEHIND',
          `${this.topology}: messages are not dispatched ${CATCH_UP_MS / 1000} s after the load`,
          { remedy: 'choose a smaller load, or a faster disk with --store' },
        );
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
