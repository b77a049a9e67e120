import { AdminClient, ClientError } from '../../client/index.js';
import type { BrokerTarget } from './load.js';
import { addressOf } from './queue-ends.js';

/** All messages that a broker has stored since its start; 4.9 counts what is in the log, whether consumers see it yet or not. */
const STORED = 'msgPutTotalTodayNow';

/** How many messages the brokers of a load have stored, of whatever topic: nobody else should send meanwhile. */
export class StoredCount {
  readonly #admin: AdminClient;
  readonly #brokers: readonly string[];

  /** `namesrvAddr` is not asked: the brokers are known. */
  constructor(namesrvAddr: string, targets: readonly BrokerTarget[]) {
    this.#admin = new AdminClient({ namesrvAddr });
    this.#brokers = targets.map(addressOf);
  }

  async now(): Promise<number> {
    const counts = await Promise.all(this.#brokers.map((broker) => this.#storedAt(broker)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  close(): Promise<void> {
    return this.#admin.close();
  }

  async #storedAt(broker: string): Promise<number> {
    const count = Number((await this.#admin.brokerRuntimeInfo(broker)).get(STORED));
    if (!Number.isSafeInteger(count))
      throw new ClientError('REFUSED', `broker ${broker} does not say how many messages it stored (${STORED})`);
    return count;
  }
}
