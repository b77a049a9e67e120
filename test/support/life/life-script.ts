import { Fault, Watermark } from '../../../kernel/ring/watermarks.js';
import { QueueWord } from '../../../kernel/ring/queue-table.js';
import type { AppendStatus, PendingAppend } from '../../../plugins/commitlog/contract.js';
import { SysFlag } from '../../../protocol/codes.js';
import { SystemTopic } from '../../../protocol/message/names.js';
import { physicalOffsetAt, queueOffsetAt } from '../../../protocol/message/stamped.js';
import { unitPhysicalOffset, unitSize } from '../../../store/consumequeue/unit.js';
import { type LossyFiles, PowerCut } from '../lossy-files.js';
import { testRecord } from '../records.js';
import type { SeededRandom } from '../seeded-random.js';
import type { BrokerLife } from './broker-life.js';
import { bodyOf, type Entry, type LifeLedger } from './life-ledger.js';
import type { LifeClock } from './life-clock.js';

const TICK_MS = 100;
const OFFSETS_GROUP = 'G';
const DELAY_LEVELS = 3;

export interface Scene {
  readonly life: BrokerLife;
  readonly files: LossyFiles;
  readonly clock: LifeClock;
  readonly random: SeededRandom;
  readonly ledger: LifeLedger;
  readonly sync: boolean;
}

/** One unit on its way, and what the store says of it; nobody hears anything of a machine that is off. */
class Unit implements PendingAppend {
  constructor(
    private readonly scene: Scene,
    readonly waitStore: boolean,
    private readonly entries: readonly Entry[],
  ) {}

  appended(ring: DataView, start: number): void {
    if (this.scene.files.isOff) return;
    let at = start;
    for (const entry of this.entries) {
      entry.physicalOffset = physicalOffsetAt(ring, at);
      entry.queueOffset = queueOffsetAt(ring, at);
      at += entry.bytes.length;
    }
  }

  settle(status: AppendStatus): void {
    const { files, clock, ledger } = this.scene;
    if (files.isOff) return;
    for (const entry of this.entries) {
      if (status === 'stored') {
        entry.outcome = 'acked';
        entry.ackedMonoMs = clock.monoMs();
        ledger.acked++;
      } else entry.outcome = status === 'flushTimeout' || status === 'flushFailed' ? 'doubtful' : 'refused';
    }
  }
}

/** The things that happen in a broker's life, one after the other, as the dice say. */
export class LifeScript {
  readonly #actions: readonly (readonly [weight: number, act: () => void | Promise<void>])[];
  readonly #total: number;

  constructor(private readonly scene: Scene) {
    const { threads } = scene.life;
    this.#actions = [
      [30, () => this.#send()],
      [18, () => threads.step('commitlog')],
      [14, () => scene.life.collect()],
      [12, () => threads.step('reput')],
      [scene.sync ? 12 : 2, () => threads.step('flush')],
      [12, () => this.#pass()],
      [8, () => this.#pull()],
      [4, () => this.#commitOffset()],
      [3, () => this.#persistOffsets()],
      [1, () => this.#createTopic(`V${scene.random.below(3)}`)],
      [1.5, () => this.#deleteTopic('U')],
    ];
    this.#total = this.#actions.reduce((sum, [weight]) => sum + weight, 0);
  }

  /** Throws PowerCut as soon as the machine is off; an assertion's error when the broker breaks a rule that always holds. */
  async play(actions: number): Promise<void> {
    await this.#createTopic('T');
    for (let action = 0; action < actions; action++) {
      await this.#choose()();
      this.#look();
    }
  }

  #choose(): () => void | Promise<void> {
    let at = this.scene.random.next() * this.#total;
    for (const [weight, act] of this.#actions) if ((at -= weight) < 0) return act;
    return this.#actions[0]![1];
  }

  /** After every step: what is on disk as far as the broker says, and the order of its cursors. */
  #look(): void {
    const { files, ledger, life, sync } = this.scene;
    if (files.isOff) throw new PowerCut('the machine went off');
    const flushed = life.mark(Watermark.flushed);
    ledger.durableEnd = Math.max(ledger.durableEnd, flushed);
    const order = [life.mark(Watermark.logMin), life.mark(Watermark.dispatched), life.mark(Watermark.appended)];
    const visibleMax = sync ? flushed : life.mark(Watermark.appended);
    if (order[0]! > order[1]! || order[1]! > order[2]! || flushed > order[2]! || order[1]! > visibleMax)
      throw new Error(`watermarks out of order: min, dispatched, appended ${order.join(', ')}, flushed ${flushed}`);
    if (life.store.watermarks.raised(Fault.flush)) this.#lookAtFailed();
    const { queueTable } = life.store;
    for (let row = 0; row < queueTable.count; row++) {
      const [next, end] = [queueTable.get(row, QueueWord.next), queueTable.get(row, QueueWord.dispatched)];
      if (end > next) throw new Error(`row ${row} is visible up to ${end} of ${next}`);
    }
  }

  /** After a failed sync nothing is written any more, and nothing counts as synced. */
  #lookAtFailed(): void {
    const { ledger, life, clock } = this.scene;
    const appended = life.mark(Watermark.appended);
    ledger.failed ??= { monoMs: clock.monoMs(), appended };
    if (appended !== ledger.failed.appended)
      throw new Error(`the log grew to ${appended} after a sync had failed at ${ledger.failed.appended}`);
  }

  #send(): void {
    const { random, life } = this.scene;
    for (let unit = 1 + random.below(4); unit > 0; unit--) this.#putUnit();
    if (random.chance(0.7)) life.gate.publish();
  }

  #putUnit(): void {
    const { random, ledger, life } = this.scene;
    const { gate, topics } = life;
    const { topic, queueId, properties } = this.#place();
    if (gate.readOnlyReason !== undefined || topics.get(topic) === undefined || topics.unsaved(topic) !== undefined)
      return;
    const waitStore = random.chance(0.85);
    const records = random.chance(0.15) ? 2 + random.below(4) : 1;
    const unit: Buffer[] = [];
    const first = ledger.entries.length;
    for (let record = 0; record < records; record++) {
      const body = bodyOf(ledger, this.#bodyBytes(), random.below(256));
      const sysFlag = this.#sysFlag();
      unit.push(testRecord({ topic, queueId, body, sysFlag, properties, physicalOffset: 0, storeTimestamp: 0 }));
      ledger.add(topic, queueId, unit[record]!, waitStore);
    }
    const bytes = Buffer.concat(unit);
    const start = gate.reserve(bytes.length);
    if (start < 0) return void ledger.entries.splice(first);
    bytes.copy(gate.bytes, start);
    gate.commit(bytes.length, topic, queueId, records, new Unit(this.scene, waitStore, ledger.entries.slice(first)));
  }

  #place(): { topic: string; queueId: number; properties: string } {
    const { random } = this.scene;
    const dice = random.next();
    if (dice < 0.6) return { topic: 'T', queueId: random.below(3), properties: 'TAGS\u0001blue\u0002' };
    if (dice < 0.8) return { topic: 'U', queueId: random.below(2), properties: '' };
    const level = 1 + random.below(DELAY_LEVELS);
    return { topic: SystemTopic.SCHEDULE, queueId: level - 1, properties: `DELAY\u0001${level}\u0002` };
  }

  #bodyBytes(): number {
    const { random } = this.scene;
    const dice = random.next();
    if (dice < 0.02) return 9000;
    return random.below(dice < 0.1 ? 3000 : 700);
  }

  #sysFlag(): number {
    const dice = this.scene.random.next();
    if (dice < 0.05) return SysFlag.TRANSACTION_PREPARED;
    if (dice < 0.08) return SysFlag.TRANSACTION_ROLLBACK;
    return dice < 0.12 ? SysFlag.TRANSACTION_COMMIT : 0;
  }

  /** Time goes on; the flush service gets each turn that it asked for. */
  #pass(): void {
    const { clock, random, life } = this.scene;
    for (let ms = random.below(random.chance(0.1) ? 6000 : 900); ms > 0; ms -= TICK_MS) {
      clock.advance(Math.min(TICK_MS, ms));
      life.threads.stepDue('flush');
      this.#look();
    }
  }

  /** A consumer reads what it is shown, and what it is shown may not be beyond what the flush mode allows. */
  #pull(): void {
    const { random, life, ledger, sync } = this.scene;
    const queues = life.queues.topics().flatMap((topic) => life.queues.idsOf(topic).map((id) => [topic, id] as const));
    if (queues.length === 0) return;
    const [topic, queueId] = queues[random.below(queues.length)]!;
    const end = life.queues.maxOffset(topic, queueId);
    const from = Math.max(life.queues.minOffset(topic, queueId), end - 1 - random.below(8));
    const limit = life.mark(sync ? Watermark.flushed : Watermark.appended);
    for (let offset = from; offset < end; offset++) {
      const unit = life.queues.entries(topic, queueId, offset, 1);
      if (unit.length === 0) throw new Error(`${topic}/${queueId} ends at ${end} and has no unit ${offset}`);
      const [at, size] = [unitPhysicalOffset(unit, 0), unitSize(unit, 0)];
      if (at + size > limit) throw new Error(`${topic}/${queueId}/${offset}: shown at ${at}, but ${limit} is the end`);
      const record = Buffer.alloc(size);
      life.log.readInto(record, 0, size, at);
      const entry = ledger.find(record);
      if (entry === undefined) throw new Error(`invented: ${topic}/${queueId}/${offset} is shown`);
      if (entry.topic !== topic || entry.queueId !== queueId)
        throw new Error(`${topic}/${queueId}/${offset} is record ${entry.id} of ${entry.topic}/${entry.queueId}`);
      if (entry.outcome === 'refused') throw new Error(`record ${entry.id} was refused and is shown`);
      ledger.seen.set(`${topic}/${queueId}/${offset}`, entry.id);
    }
  }

  #commitOffset(): void {
    const { random, life } = this.scene;
    life.offsets.commit('test', OFFSETS_GROUP, 'T', random.below(3), random.below(1000));
  }

  async #persistOffsets(): Promise<void> {
    await this.scene.life.offsets.persist().catch(() => undefined);
  }

  async #createTopic(topic: string): Promise<void> {
    const { life, ledger } = this.scene;
    const queues = { readQueueNums: 4, writeQueueNums: 4 };
    const put = async (topicName: string): Promise<void> => {
      if (life.topics.get(topicName) !== undefined) return;
      ledger.topics.delete(topicName);
      const config = { topicName, perm: 6, topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false } as const;
      await life.topics.put({ ...config, ...queues }).then(
        () => this.scene.files.isOff || ledger.topics.set(topicName, true),
        () => undefined,
      );
    };
    await put(topic);
    await put('U');
  }

  /** As the request's handler does it, at a moment when nothing is in the ring. */
  async #deleteTopic(topic: string): Promise<void> {
    const { life, ledger, files } = this.scene;
    if (life.topics.get(topic) === undefined || life.store.watermarks.raised(Fault.append)) return;
    life.gate.publish();
    life.threads.rest('commitlog');
    life.collect();
    if (files.isOff) return;
    ledger.topics.delete(topic);
    for (const place of [...ledger.seen.keys()]) if (place.startsWith(`${topic}/`)) ledger.seen.delete(place);
    ledger.deletions.push({ topic, physicalOffset: life.mark(Watermark.appended) });
    await life.topics
      .delete(topic, () => life.queues.deleteTopic(topic))
      .then(
        () => files.isOff || ledger.topics.set(topic, false),
        () => undefined,
      );
  }
}
