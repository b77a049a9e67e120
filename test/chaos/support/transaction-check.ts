import assert from 'node:assert/strict';
import { SystemTopic } from '../../../protocol/message/names.js';
import type { StoredMessage } from '../../../protocol/message/record.js';
import { RawClient } from '../../support/raw-client.js';
import { eachMessage, maxOffset } from './audit.js';
import { nameOf } from './bodies.js';
import type { Copy, Lives } from './lives.js';
import type { Transaction, TransactionLoad } from './transaction-load.js';

const PROBLEMS_SHOWN = 12;

/** What consumers see of the transactions, and what the broker gave up, compared with what their producers decided. */
export class TransactionCheck {
  readonly #delivered = new Map<number, Copy[]>();
  readonly #givenUp = new Map<number, Copy[]>();
  readonly #problems: string[] = [];

  private constructor(private readonly load: TransactionLoad) {}

  static async read(load: TransactionLoad, port: number): Promise<TransactionCheck> {
    using client = await RawClient.connect(`127.0.0.1:${port}`);
    const check = new TransactionCheck(load);
    const { topic, queues } = load.shape;
    for (let queueId = 0; queueId < queues; queueId++)
      await eachMessage(client, topic, queueId, (message) => check.#see(message, check.#delivered, queueId));
    // The topic comes with the first that is given up.
    if ((await maxOffset(client, SystemTopic.TRANS_CHECK_MAX_TIME, 0)) > 0)
      await eachMessage(client, SystemTopic.TRANS_CHECK_MAX_TIME, 0, (message) => check.#see(message, check.#givenUp));
    return check;
  }

  get delivered(): number {
    return this.#delivered.size;
  }

  get givenUp(): number {
    return this.#givenUp.size;
  }

  /** Those whose end is promised, or which the broker must ask about until it has one, and which it did not bring about so far. */
  missing(): string[] {
    const missing = this.load.transactions.filter((transaction) => {
      const { sequence, plan, half, promised } = transaction;
      if (half !== 'acked' && !promised) return false;
      if (plan.ends === 'commit') return !this.#delivered.has(sequence);
      return plan.ends === undefined && !this.#givenUp.has(sequence);
    });
    return missing.map(described);
  }

  /** Fails naming what is seen and may not be. `checkMax`: questions about one half, at most. Returns the number of repeats. */
  result(lives: Lives, checkMax: number): number {
    const problems = [...this.load.problems, ...this.#problems];
    let repeats = 0;
    for (const [where, seen, wanted] of [
      ['delivered', this.#delivered, 'commit'],
      ['given up', this.#givenUp, undefined],
    ] as const)
      for (const [sequence, copies] of seen) {
        const transaction = this.load.at(sequence)!;
        if (transaction.plan.ends !== wanted) problems.push(`${described(transaction)} is ${where}`);
        if (transaction.half === 'refused') problems.push(`${described(transaction)} was refused and is ${where}`);
        const repeat = lives.repeatProblem(copies);
        if (repeat !== undefined) problems.push(`${described(transaction)} ${where} ${repeat}`);
        repeats += copies.length - 1;
      }
    for (const transaction of this.load.transactions)
      if (transaction.asked > checkMax) problems.push(`${described(transaction)} was asked about too often`);
    const shown = problems.slice(0, PROBLEMS_SHOWN).join('\n');
    assert.equal(problems.length, 0, `${problems.length} problems, ${this.delivered} delivered:\n${shown}`);
    return repeats;
  }

  #see({ body, physicalOffset, storeTimestamp }: StoredMessage, seen: Map<number, Copy[]>, queueId?: number): void {
    const sequence = nameOf(body)?.sequence;
    const transaction = this.load.at(sequence);
    if (sequence === undefined || transaction === undefined) {
      this.#problems.push(`invented: ${body.length} bytes at ${physicalOffset} that nobody sent`);
      return;
    }
    if (!body.equals(this.load.bodies.make(0, sequence))) this.#problems.push(`${sequence}: other bytes than sent`);
    if (queueId !== undefined && transaction.queueId !== queueId)
      this.#problems.push(`${sequence}: in queue ${queueId} instead of ${transaction.queueId}`);
    const copies = seen.get(sequence) ?? [];
    copies.push({ storeMs: storeTimestamp, physicalOffset });
    seen.set(sequence, copies);
  }
}

function described({ sequence, plan, half, asked, promised, place }: Transaction): string {
  const at = place === undefined ? '' : ` at half offset ${place.tranStateTableOffset}`;
  return `${sequence} ${JSON.stringify(plan)} (half ${half}${at}, asked ${asked} times, ${promised ? 'promised' : 'not promised'})`;
}
