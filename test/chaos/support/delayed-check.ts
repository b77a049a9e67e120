import assert from 'node:assert/strict';
import { SystemTopic } from '../../../protocol/message/names.js';
import type { StoredMessage } from '../../../protocol/message/record.js';
import { RawClient } from '../../support/raw-client.js';
import { eachMessage } from './audit.js';
import { nameOf } from './bodies.js';
import type { Delayed, DelayedLoad } from './delayed-load.js';
import type { Copy, Lives } from './lives.js';

const PROBLEMS_SHOWN = 12;

/** What was delivered, compared with what was sent. */
export class DelayedCheck {
  readonly problems: string[] = [];
  /** Deliveries in the order of the log, by sequence. */
  readonly #copies = new Map<number, Copy[]>();
  /** Store times in the schedule topic, by sequence: what a level's delay counts from. */
  readonly #storedMs = new Map<number, number>();

  private constructor(private readonly load: DelayedLoad) {}

  /** Reads all queues of the load's topic, and the levels'. */
  static async read(load: DelayedLoad, port: number): Promise<DelayedCheck> {
    using client = await RawClient.connect(`127.0.0.1:${port}`);
    const check = new DelayedCheck(load);
    const { topic, queues, levelsMs } = load.shape;
    for (let queueId = 0; queueId < queues; queueId++)
      await eachMessage(client, topic, queueId, (message) => check.#see(message, queueId));
    for (let queueId = 0; queueId < levelsMs.length; queueId++)
      await eachMessage(client, SystemTopic.SCHEDULE, queueId, ({ body, storeTimestamp }) => {
        const sequence = nameOf(body)?.sequence;
        if (sequence !== undefined) check.#storedMs.set(sequence, storeTimestamp);
      });
    for (const copies of check.#copies.values()) copies.sort((a, b) => a.physicalOffset - b.physicalOffset);
    return check;
  }

  get delivered(): number {
    return this.#copies.size;
  }

  /** Sequences that were acknowledged and not delivered so far. */
  missing(): number[] {
    return [...this.load.sent.keys()].filter((at) => this.load.sent[at]!.outcome === 'acked' && !this.#copies.has(at));
  }

  /** Fails naming what came early, or again without a kill in between, or was refused or changed. Returns how many repeats there are. */
  result(lives: Lives): number {
    let repeats = 0;
    for (const [sequence, copies] of this.#copies) {
      this.#notEarly(sequence, copies[0]!);
      repeats += copies.length - 1;
      const repeat = lives.repeatProblem(copies);
      if (repeat !== undefined) this.problems.push(`${sequence} ${repeat}`);
    }
    const shown = this.problems.slice(0, PROBLEMS_SHOWN).join('\n');
    assert.equal(this.problems.length, 0, `${this.problems.length} problems, ${this.delivered} delivered:\n${shown}`);
    return repeats;
  }

  /** Sorted, ms: how long after its due time, or after the start of the broker that found it due, each was stored. */
  lateness(lives: Lives): number[] {
    const late = [...this.#copies].map(([sequence, copies]) => {
      const { storeMs } = copies[0]!;
      return Math.max(0, storeMs - Math.max(this.#dueMs(sequence), lives.of(storeMs).readyWallMs));
    });
    return late.sort((a, b) => a - b);
  }

  #see(message: StoredMessage, queueId: number): void {
    const { body, physicalOffset, storeTimestamp } = message;
    const sequence = nameOf(body)?.sequence;
    const sent = sequence === undefined ? undefined : this.load.sent[sequence];
    if (sequence === undefined || sent === undefined) {
      this.problems.push(`invented: ${body.length} bytes at ${physicalOffset} that nobody sent`);
      return;
    }
    if (!body.equals(this.load.bodies.make(0, sequence))) this.problems.push(`${sequence}: other bytes than sent`);
    if (sent.queueId !== queueId) this.problems.push(`${sequence}: in queue ${queueId} instead of ${sent.queueId}`);
    if (sent.outcome === 'refused') this.problems.push(`${sequence}: was refused and is delivered`);
    const copies = this.#copies.get(sequence) ?? [];
    copies.push({ storeMs: storeTimestamp, physicalOffset });
    this.#copies.set(sequence, copies);
  }

  #notEarly(sequence: number, { storeMs }: Copy): void {
    const earlyMs = this.#dueMs(sequence) - storeMs;
    const wish = JSON.stringify(this.load.sent[sequence]!.wish);
    if (earlyMs > 0) this.problems.push(`${sequence} ${wish} came ${earlyMs} ms early`);
  }

  /** The earliest time that it may be delivered at. */
  #dueMs(sequence: number): number {
    const sent = this.load.sent[sequence]!;
    return dueMs(sent, this.load.shape.levelsMs, this.#storedMs.get(sequence) ?? sent.askedWallMs);
  }
}

function dueMs({ wish, askedWallMs }: Delayed, levelsMs: readonly number[], storedMs: number): number {
  if ('level' in wish) return storedMs + levelsMs[Math.min(wish.level, levelsMs.length) - 1]!;
  if (wish.property === 'TIMER_DELIVER_MS') return wish.value;
  return askedWallMs + wish.value * (wish.property === 'TIMER_DELAY_SEC' ? 1000 : 1);
}
