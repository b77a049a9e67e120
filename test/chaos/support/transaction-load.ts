import { ResponseCode } from '../../../protocol/codes.js';
import type { Answer } from '../../support/raw-client.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { Bodies } from './bodies.js';
import { planOf, type Plan } from './transaction-plan.js';
import { TransactionProducer } from './transaction-producer.js';

/** One transaction and what the broker said of it; its sequence is in its body. */
export interface Transaction {
  readonly sequence: number;
  readonly queueId: number;
  readonly plan: Plan;
  half: 'open' | 'acked' | 'refused' | 'unknown';
  /** Of the half, as its answer named it. */
  place: { readonly tranStateTableOffset: number; readonly commitLogOffset: number } | undefined;
  /** Questions that came. */
  asked: number;
  /** An end was answered with success. */
  promised: boolean;
}

export interface TransactionShape {
  readonly topic: string;
  readonly queues: number;
  readonly groups: readonly string[];
}

const BODY_BYTES_MAX = 300;

/** Producers with two instances of each group, of which one may be killed; the table of their transactions outlives all of them. */
export class TransactionLoad {
  readonly transactions: Transaction[] = [];
  readonly bodies: Bodies;
  readonly problems: string[] = [];
  acked = 0;
  #forgiving = false;

  constructor(
    readonly shape: TransactionShape,
    private readonly random: SeededRandom,
  ) {
    this.bodies = new Bodies(random.below(2 ** 31), BODY_BYTES_MAX);
  }

  /** Questions that came. */
  get asked(): number {
    return this.transactions.reduce((sum, transaction) => sum + transaction.asked, 0);
  }

  at(sequence: number | undefined): Transaction | undefined {
    return sequence === undefined ? undefined : this.transactions[sequence];
  }

  /** Two instances of each group; they answer questions until the broker or they themselves are gone. */
  async connect(port: number): Promise<readonly TransactionProducer[][]> {
    this.#forgiving = false;
    const instance = (group: string): Promise<TransactionProducer> => TransactionProducer.connect(port, this, group);
    return Promise.all(this.shape.groups.map((group) => Promise.all([instance(group), instance(group)])));
  }

  /** Begins so many at once, spread over the instances; resolves when each has come as far as it comes. */
  async run(
    instances: readonly (readonly TransactionProducer[])[],
    count: number,
    onAcked: (acked: number) => void = () => undefined,
  ): Promise<void> {
    const all = instances.flat();
    const before = this.acked;
    const runs = Array.from({ length: count }, async () => {
      const transaction = this.#next();
      await all[transaction.sequence % all.length]!.run(transaction);
      if (transaction.half === 'acked') onAcked(this.acked - before);
    });
    await Promise.all(runs);
  }

  /** Refusals of the connections that there are now do not matter any more. */
  forgive(): void {
    this.#forgiving = true;
  }

  /** Only a broker that is about to stop may refuse. */
  refused(what: string, { code, remark }: Answer): void {
    if (!this.#forgiving && code !== ResponseCode.SERVICE_NOT_AVAILABLE)
      this.problems.push(`${what} was answered ${code}: ${remark}`);
  }

  #next(): Transaction {
    const transaction: Transaction = {
      ...{ sequence: this.transactions.length, queueId: this.random.below(this.shape.queues) },
      ...{ plan: planOf(this.random), half: 'open', place: undefined, asked: 0, promised: false },
    };
    this.transactions.push(transaction);
    return transaction;
  }
}
