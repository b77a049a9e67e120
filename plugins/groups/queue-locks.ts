import { KernelError } from '../../kernel/base/errors.js';
import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger } from '../../kernel/tokens.js';
import { decodeLockBatchRequestBody, encodeLockBatchResponseBody } from '../../protocol/bodies/lock-batch.js';
import type { MessageQueue } from '../../protocol/bodies/message-queue.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { groupProblem } from '../../protocol/message/names.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';

/** 4.9: rocketmq.broker.rebalance.lockMaxLiveTime. An ordered consumer renews every 20 s. */
const EXPIRY_MS = 60_000;
const LOCKS_MAX = 1_000_000;

interface Lock {
  clientId: string;
  renewedMonoMs: number;
}

/** Which member of a group may consume a queue in order (4.9: RebalanceLockManager). Locks end by the monotonic clock. */
@injectable()
export class QueueLocks {
  readonly #byGroup = new Map<string, Map<string, Lock>>();
  #count = 0;

  constructor(
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.LOCK_BATCH_MQ, (request) => this.#lockBatch(request));
    router.handle(RequestCode.UNLOCK_BATCH_MQ, (request) => this.#unlockBatch(request));
  }

  /** Forgets locks that nobody renewed. */
  expire(): void {
    const oldest = this.clock.monoMs() - EXPIRY_MS;
    for (const [group, locks] of this.#byGroup)
      for (const [queue, lock] of locks) if (lock.renewedMonoMs < oldest) this.#remove(group, queue);
  }

  #lockBatch({ body }: Request): Reply {
    const { consumerGroup, clientId, mqSet } = decodeLockBatchRequestBody(body);
    const problem = groupProblem(consumerGroup);
    if (problem !== undefined) return { code: ResponseCode.SYSTEM_ERROR, remark: problem };
    const lockOKMQSet = mqSet.filter((queue) => this.#lock(consumerGroup, queue, clientId));
    return { code: ResponseCode.SUCCESS, body: encodeLockBatchResponseBody({ lockOKMQSet }) };
  }

  #unlockBatch({ body }: Request): Reply {
    const { consumerGroup, clientId, mqSet } = decodeLockBatchRequestBody(body);
    for (const queue of mqSet) {
      const key = keyOf(queue);
      const owner = this.#byGroup.get(consumerGroup)?.get(key)?.clientId;
      if (owner === clientId) this.#remove(consumerGroup, key);
    }
    return { code: ResponseCode.SUCCESS };
  }

  #lock(group: string, queue: MessageQueue, clientId: string): boolean {
    const now = this.clock.monoMs();
    let locks = this.#byGroup.get(group);
    if (locks === undefined) this.#byGroup.set(group, (locks = new Map()));
    const key = keyOf(queue);
    const lock = locks.get(key);
    if (lock === undefined) {
      this.#add(locks, key, { clientId, renewedMonoMs: now });
      return true;
    }
    if (lock.clientId !== clientId) {
      if (now - lock.renewedMonoMs <= EXPIRY_MS) return false;
      this.logger.warn({ group, queue, from: lock.clientId, to: clientId }, 'an expired queue lock changes its owner');
      lock.clientId = clientId;
    }
    lock.renewedMonoMs = now;
    return true;
  }

  #add(locks: Map<string, Lock>, key: string, lock: Lock): void {
    if (this.#count >= LOCKS_MAX) throw new KernelError('LOCKS_FULL', `${LOCKS_MAX} queues are locked already`);
    locks.set(key, lock);
    this.#count++;
  }

  #remove(group: string, key: string): void {
    const locks = this.#byGroup.get(group);
    if (locks?.delete(key) !== true) return;
    this.#count--;
    if (locks.size === 0) this.#byGroup.delete(group);
  }
}

function keyOf({ topic, brokerName, queueId }: MessageQueue): string {
  return `${queueId}@${brokerName}@${topic}`;
}
