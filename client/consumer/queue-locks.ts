import { messageOf } from '../../kernel/base/errors.js';
import {
  decodeLockBatchResponseBody,
  encodeLockBatchRequestBody,
  type LockBatchResponseBody,
} from '../../protocol/bodies/lock-batch.js';
import { RequestCode } from '../../protocol/codes.js';
import type { ClientCore } from '../transport/client-core.js';
import { MASTER_ID, queueKey, type MessageQueue } from '../transport/message-queue.js';
import type { ProcessQueue } from './process-queue.js';

/** 4.9: RebalanceImpl#lock. */
const TIMEOUT_MS = 1000;

/**
 * The locks of queues that are consumed in order: brokers give a queue to one member of the group at a time. 4.9: RebalanceImpl#lock,
 * #lockAll, #unlock.
 */
export class QueueLocks {
  readonly #core: ClientCore;
  readonly #group: string;
  readonly #validMs: number;

  /** `validMs`: how long a lock counts here after it was asked for; less than the broker's 60 s. */
  constructor(core: ClientCore, group: string, validMs: number) {
    this.#core = core;
    this.#group = group;
    this.#validMs = validMs;
  }

  /** Those of the queues that this consumer has locked now, with the monotonic time from which the lock counts. */
  async lock(queues: readonly MessageQueue[]): Promise<(readonly [MessageQueue, number])[]> {
    const locked = await this.#eachBroker(queues, (address, some) => this.#lockAt(address, some));
    return locked.flatMap(({ some, askedMs, keys }) =>
      some.filter((queue) => keys.has(queueKey(queue))).map((queue) => [queue, askedMs] as const),
    );
  }

  /** False once another member may have the queue: the broker was not asked for too long. */
  holds(process: ProcessQueue): boolean {
    return this.#core.clock.monoMs() - process.lockedMs < this.#validMs;
  }

  /** Renews the locks. Returns the queues that are not this consumer's any more; a broker that does not answer says nothing. */
  async renew(processes: readonly ProcessQueue[]): Promise<ProcessQueue[]> {
    const byKey = new Map(processes.map((process) => [queueKey(process.queue), process]));
    const answers = await this.#eachBroker(
      processes.map(({ queue }) => queue),
      (address, some) => this.#lockAt(address, some),
    );
    const gone: ProcessQueue[] = [];
    for (const { some, askedMs, keys } of answers)
      for (const key of some.map(queueKey)) {
        const process = byKey.get(key)!;
        // After a gap somebody else may have had it, and gone on from where this consumer stood.
        if (keys.has(key) && this.holds(process)) process.lockedMs = askedMs;
        else gone.push(process);
      }
    return gone;
  }

  /** Failures are logged: the broker ends the lock by itself later. */
  async unlock(queues: readonly MessageQueue[]): Promise<void> {
    await this.#eachBroker(queues, async (address, some) => {
      await this.#core.transport.request(address, this.#call(RequestCode.UNLOCK_BATCH_MQ, some), TIMEOUT_MS);
    });
  }

  async #lockAt(
    address: string,
    some: readonly MessageQueue[],
  ): Promise<{ some: readonly MessageQueue[]; askedMs: number; keys: ReadonlySet<string> }> {
    const askedMs = this.#core.clock.monoMs();
    const call = this.#call(RequestCode.LOCK_BATCH_MQ, some);
    const { body } = await this.#core.transport.request(address, call, TIMEOUT_MS);
    const { lockOKMQSet }: LockBatchResponseBody = decodeLockBatchResponseBody(body);
    return { some, askedMs, keys: new Set(lockOKMQSet.map(queueKey)) };
  }

  #call(code: number, mqSet: readonly MessageQueue[]): { code: number; body: Buffer } {
    const body = encodeLockBatchRequestBody({ consumerGroup: this.#group, clientId: this.#core.clientId, mqSet });
    return { code, body };
  }

  /** Locks are the masters'. */
  async #eachBroker<T>(
    queues: readonly MessageQueue[],
    ask: (address: string, some: readonly MessageQueue[]) => Promise<T>,
  ): Promise<T[]> {
    const byBroker = new Map<string, MessageQueue[]>();
    for (const queue of queues) {
      const some = byBroker.get(queue.brokerName);
      if (some === undefined) byBroker.set(queue.brokerName, [queue]);
      else some.push(queue);
    }
    const answers = await Promise.all(
      [...byBroker].map(async ([brokerName, some]) => {
        try {
          const { address } = await this.#core.routes.findBroker(some[0]!.topic, brokerName, MASTER_ID, true);
          return [await ask(address, some)];
        } catch (error) {
          this.#core.logger.warn({ group: this.#group, brokerName, problem: messageOf(error) }, 'queues not locked');
          return [];
        }
      }),
    );
    return answers.flat();
  }
}
