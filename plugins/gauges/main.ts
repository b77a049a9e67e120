import { CoarseHistogram } from '../../kernel/base/coarse-histogram.js';
import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { ThreadHost, type ThreadFigures } from '../../kernel/threads/contract.js';
import { Clock } from '../../kernel/tokens.js';
import { AppendGate, StoreState } from '../commitlog/contract.js';
import { FilterRegistry } from '../filter/contract.js';
import type { Gauges } from './contract.js';

const SAMPLE_MS = 10;
/** Wake-up counts are 32-bit words. */
const WRAP = 2 ** 32;

/** One timer of the network thread: how late it comes is the loop's delay, and what it finds in the ring is the occupancy. */
@injectable()
export class ProcessGauges implements Gauges, PluginMain {
  readonly #loopDelayMicros = new CoarseHistogram();
  readonly #ringUnits = new CoarseHistogram();
  readonly #ringBytes = new CoarseHistogram();
  #dueMonoMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    @inject(Clock) private readonly clock: Clock,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(StoreState) private readonly store: StoreState,
    @inject(AppendGate) private readonly gate: AppendGate,
    @inject(FilterRegistry) private readonly filters: FilterRegistry,
  ) {}

  open(): void {
    this.#dueMonoMs = this.clock.monoMs() + SAMPLE_MS;
    this.#timer = setTimeout(() => this.#sample(), SAMPLE_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  table(): ReadonlyMap<string, string> {
    const threads = this.threads.figures();
    const shown = threads.filter(({ linuxId }) => linuxId !== undefined);
    return new Map([
      ['kernel.threads', shown.map(({ name, linuxId }) => `${name}=${linuxId}`).join(' ')],
      ['kernel.wakeUps', threads.map((thread) => `${thread.name}=${this.#wakeUpsOf(thread)}`).join(' ')],
      ['kernel.loopDelayMicros', this.#loopDelayMicros.text()],
      ['kernel.ringUnits', this.#ringUnits.text()],
      ['kernel.ringBytes', this.#ringBytes.text()],
      ['kernel.filterFaults', countsText(this.filters.faults)],
      ['kernel.filterBlocks', countsText(this.filters.blocks)],
    ]);
  }

  /** The network thread has a second bell, on which the cursors of the log ring. */
  #wakeUpsOf({ name, wakeUps }: ThreadFigures): number {
    return name === 'main' ? (wakeUps + this.store.wake.wakeUps) % WRAP : wakeUps;
  }

  #sample(): void {
    const nowMs = this.clock.monoMs();
    this.#loopDelayMicros.record((nowMs - this.#dueMonoMs) * 1000);
    this.#ringUnits.record(this.gate.ringUnits);
    this.#ringBytes.record(this.gate.ringBytes);
    this.#dueMonoMs = nowMs + SAMPLE_MS;
    this.#timer?.refresh();
  }
}

function countsText(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name}=${count}`).join(' ');
}
