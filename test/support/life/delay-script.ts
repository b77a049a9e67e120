import { setImmediate } from 'node:timers';
import type { AppendStatus, PendingAppend } from '../../../plugins/commitlog/contract.js';
import { TimerWords } from '../../../kernel/ring/timer-words.js';
import { TimerPlacement } from '../../../plugins/schedule/timers.js';
import { Delays } from '../../../plugins/schedule/contract.js';
import { SystemTopic } from '../../../protocol/message/names.js';
import { type LossyFiles, PowerCut } from '../lossy-files.js';
import { testRecord } from '../records.js';
import type { SeededRandom } from '../seeded-random.js';
import { propertyText } from '../send-pull.js';
import type { BrokerLife } from './broker-life.js';
import { DELIVERED_TOPIC, type DelayLedger, type DelayedEntry } from './delay-ledger.js';
import type { LifeClock } from './life-clock.js';

const TICK_MS = 100;
const ROUNDS_MAX = 2000;

export interface DelayScene {
  readonly life: BrokerLife;
  readonly files: LossyFiles;
  readonly clock: LifeClock;
  readonly random: SeededRandom;
  readonly ledger: DelayLedger;
  /** Saves progress as it is saved from time to time. */
  readonly save: () => Promise<void>;
}

class Unit implements PendingAppend {
  readonly waitStore = true;

  constructor(
    private readonly files: LossyFiles,
    private readonly entry: DelayedEntry,
  ) {}

  appended(): void {
    // Where it stands is read from the log.
  }

  settle(status: AppendStatus): void {
    if (!this.files.isOff && status === 'stored') this.entry.acked = true;
  }
}

/** What happens in a life, one thing after the other, as the dice say. */
export class DelayScript {
  readonly #actions: readonly (readonly [weight: number, act: () => void | Promise<void>])[];
  readonly #total: number;

  constructor(private readonly scene: DelayScene) {
    const { threads } = scene.life;
    this.#actions = [
      [20, () => this.#send()],
      [18, () => threads.step('commitlog')],
      [12, () => this.#collect()],
      [14, () => threads.step('reput')],
      [8, () => threads.step('flush')],
      [18, () => threads.step('schedule')],
      [14, () => this.#pass()],
      [5, () => scene.save()],
    ];
    this.#total = this.#actions.reduce((sum, [weight]) => sum + weight, 0);
  }

  async play(actions: number): Promise<void> {
    for (let action = 0; action < actions; action++) {
      await this.#choose()();
      this.#look();
    }
  }

  /** Everybody gets turns until no message waits any more. */
  async deliverAll(): Promise<void> {
    const { threads } = this.scene.life;
    for (let round = 0; round < ROUNDS_MAX; round++) {
      this.scene.clock.advance(TICK_MS);
      for (const service of ['commitlog', 'flush', 'reput', 'schedule']) threads.step(service);
      await this.#collect();
      this.#look();
      if (round * TICK_MS > 2 * this.scene.ledger.longestMs && this.#waiting() === 0) return;
    }
    throw new Error(`lost: ${this.#waiting()} messages are never delivered`);
  }

  /** Messages that do not count as delivered. */
  #waiting(): number {
    const { life, ledger } = this.scene;
    const offsets = life.get<Delays>(Delays).offsets();
    return ledger.levelsMs.reduce(
      (sum, _ms, at) => sum + life.queues.maxOffset(SystemTopic.SCHEDULE, at) - (offsets.get(at + 1) ?? 0),
      life.queues.maxOffset(SystemTopic.TIMER, 0) - new TimerWords(life.get(TimerPlacement).memory).settled,
    );
  }

  #look(): void {
    if (this.scene.files.isOff) throw new PowerCut('the machine went off');
  }

  #choose(): () => void | Promise<void> {
    let at = this.scene.random.next() * this.#total;
    for (const [weight, act] of this.#actions) if ((at -= weight) < 0) return act;
    return this.#actions[0]![1];
  }

  /** The network thread's turn, and what it begins then. */
  async #collect(): Promise<void> {
    this.scene.life.collect();
    await new Promise((resolve) => setImmediate(resolve));
  }

  #send(): void {
    const { random, ledger, life, files } = this.scene;
    const { gate } = life;
    for (let count = 1 + random.below(3); count > 0; count--) {
      const entry = ledger.add(random.below(1 + ledger.levelsMs.length));
      const { topic, queueId, noted } = this.#placeOf(entry);
      const properties = propertyText({ ...noted, REAL_TOPIC: DELIVERED_TOPIC, REAL_QID: '0' });
      const body = Buffer.alloc(4 + random.below(random.chance(0.1) ? 2000 : 200));
      body.writeInt32BE(entry.id, 0);
      const record = testRecord({ topic, queueId, body, properties, physicalOffset: 0, storeTimestamp: 0 });
      const start = gate.reserve(record.length);
      if (start < 0) return;
      record.copy(gate.bytes, start);
      gate.commit(record.length, topic, queueId, 1, new Unit(files, entry));
    }
    if (random.chance(0.8)) gate.publish();
  }

  /** As a send is placed. */
  #placeOf({ level }: DelayedEntry): { topic: string; queueId: number; noted: Record<string, string> } {
    const { clock, random, ledger } = this.scene;
    if (level > 0) return { topic: SystemTopic.SCHEDULE, queueId: level - 1, noted: { DELAY: `${level}` } };
    const dueMs = clock.wallMs() + 1 + random.below(ledger.longestMs);
    return { topic: SystemTopic.TIMER, queueId: 0, noted: { TIMER_OUT_MS: `${dueMs}` } };
  }

  #pass(): void {
    const { clock, random, life } = this.scene;
    for (let ms = random.below(random.chance(0.1) ? 6000 : 900); ms > 0; ms -= TICK_MS) {
      clock.advance(Math.min(TICK_MS, ms));
      life.threads.stepDue('flush');
    }
  }
}
