import {
  coarseBetween,
  parseCoarse,
  summaryOf,
  type CoarseCounts,
  type CoarseSummary,
} from '../../../kernel/base/coarse-histogram.js';
import type { Probe } from '../measure.js';
import { processStats, threadCpuMicros } from '../process-stats.js';

/** What remains of a process beside its named threads: helpers of V8 and libuv, the pool. */
export const OTHER_THREADS = 'other';

/** How a broker spent a measured time. Figures that this system or broker does not give are missing. */
export interface BrokerFigures {
  /** CPU time by thread in microseconds. */
  readonly threadCpuMicros: Readonly<Record<string, number>>;
  /** How often a bell ended a thread's sleep. */
  readonly wakeUps: Readonly<Record<string, number>>;
  /** How late a timer of the network thread came, in microseconds; here and below, p50, p99 and max are to within a quarter. */
  readonly loopDelayMicros?: CoarseSummary;
  /** What lay in the hand-off ring, seen every 10 ms. */
  readonly ringUnits?: CoarseSummary;
  readonly ringBytes?: CoarseSummary;
}

/** Runtime information (28) of a broker, with our own keys or without. */
export type RuntimeTable = ReadonlyMap<string, string>;

interface CpuReading {
  readonly total: number | undefined;
  readonly threads: ReadonlyMap<string, number>;
}

/** Reads a broker's figures where a measured time begins and ends. */
export class FiguresProbe implements Probe {
  #ids: ReadonlyMap<string, number> = new Map();
  #tableBefore: RuntimeTable = new Map();
  #cpuBefore: CpuReading = { total: undefined, threads: new Map() };
  #cpu: Record<string, number> = {};
  #figures: BrokerFigures = { threadCpuMicros: {}, wakeUps: {} };

  constructor(
    private readonly pid: number,
    private readonly ask: () => Promise<RuntimeTable>,
  ) {}

  /** After `end`. */
  get figures(): BrokerFigures {
    return this.#figures;
  }

  /** CPU times are read right at the edge of the measured time, on its far side of the question in between. */
  async begin(): Promise<void> {
    this.#tableBefore = await this.ask();
    this.#ids = numbersIn(this.#tableBefore.get('kernel.threads'));
    this.#cpuBefore = this.#readCpu();
  }

  over(): void {
    this.#cpu = cpuBetween(this.#cpuBefore, this.#readCpu());
  }

  async end(): Promise<void> {
    this.#figures = { threadCpuMicros: this.#cpu, ...tableBetween(this.#tableBefore, await this.ask()) };
  }

  #readCpu(): CpuReading {
    const threads = new Map<string, number>();
    for (const [name, id] of this.#ids) {
      const micros = threadCpuMicros(this.pid, id);
      if (micros !== undefined) threads.set(name, micros);
    }
    return { total: processStats(this.pid)?.cpuMicros, threads };
  }
}

/** By thread, and what is left of the whole process. Empty where there is no /proc. */
export function cpuBetween(before: CpuReading, after: CpuReading): Record<string, number> {
  if (before.total === undefined || after.total === undefined) return {};
  const used: Record<string, number> = {};
  let named = 0;
  for (const [name, micros] of after.threads) {
    const more = micros - (before.threads.get(name) ?? micros);
    used[name] = more;
    named += more;
  }
  // Ticks of the parts and of the whole are not counted at the same moment.
  used[OTHER_THREADS] = Math.max(0, after.total - before.total - named);
  return used;
}

/** What happened between two answers of one broker. */
export function tableBetween(before: RuntimeTable, after: RuntimeTable): Omit<BrokerFigures, 'threadCpuMicros'> {
  const first = numbersIn(before.get('kernel.wakeUps'));
  const last = numbersIn(after.get('kernel.wakeUps'));
  // The counts are words of 32 bits that wrap around.
  const wakeUps = Object.fromEntries([...last].map(([name, count]) => [name, (count - (first.get(name) ?? 0)) >>> 0]));
  const loopDelayMicros = summaryBetween(before, after, 'kernel.loopDelayMicros');
  const ringUnits = summaryBetween(before, after, 'kernel.ringUnits');
  const ringBytes = summaryBetween(before, after, 'kernel.ringBytes');
  return {
    wakeUps,
    ...(loopDelayMicros === undefined ? {} : { loopDelayMicros }),
    ...(ringUnits === undefined ? {} : { ringUnits }),
    ...(ringBytes === undefined ? {} : { ringBytes }),
  };
}

function summaryBetween(before: RuntimeTable, after: RuntimeTable, key: string): CoarseSummary | undefined {
  const counts = [before, after]
    .map((table) => table.get(key))
    .map((text) => (text === undefined ? undefined : parseCoarse(text)));
  const [first, last] = counts as [CoarseCounts | undefined, CoarseCounts | undefined];
  return first === undefined || last === undefined ? undefined : summaryOf(coarseBetween(first, last));
}

/** `name=number name=number …` */
function numbersIn(text: string | undefined): Map<string, number> {
  const pairs = (text ?? '').split(' ').filter((pair) => pair !== '');
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), Number(pair.slice(pair.indexOf('=') + 1))]));
}
